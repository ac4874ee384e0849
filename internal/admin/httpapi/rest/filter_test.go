package rest

import (
	"context"
	"testing"
)

// Filtering stops when the request is cancelled.
func TestFilterEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	_, err := filtered(ctx, &view{}, make([]int, 1000), func(*int) string {
		if looked++; looked == 10 {
			cancel()
		}
		return ""
	})
	if looked != 10 || err == nil {
		t.Errorf("looked at %d names after the end of the request, %v", looked, err)
	}
}
