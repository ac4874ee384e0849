package messages

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"candlemark/internal/storage/store"

	"github.com/rs/zerolog"
)

// TestSaidOnce: each event is logged once, and nothing else is.
func TestSaidOnce(t *testing.T) {
	var n Notices
	n.Purged(0)
	n.Dropped(store.Expired)
	n.Dropped(store.Expired)
	r := n.Rare()
	r.Damaged, r.Overdue, r.Rule, r.Unread, r.Broken = []uint64{3, 5}, 7, "drop", errors.New("slow"), errors.New("full")
	n.Purged(2)
	var text bytes.Buffer
	log := zerolog.New(&text)
	for range 2 {
		n.Counts(func(why store.Reason, messages uint64) {
			if why != store.Expired || messages != 2 {
				t.Errorf("%d for %d", messages, why)
			}
		})
		n.Log(&log, "q")
	}
	for _, want := range []string{`"messages":7,"overdue-messages":"drop"`, `"messages":2,"message":"scheduled`, `"messages":2,"first":3,"last":5`, `"slow"`, `"full"`} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("not once: %s in\n%s", want, &text)
		}
	}
	if strings.Count(text.String(), "\n") != 5 {
		t.Error(text.String())
	}
}
