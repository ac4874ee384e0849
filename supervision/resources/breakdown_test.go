package resources

import (
	"testing"

	"candlemark/internal/measure/clock"

	"github.com/rs/zerolog"
)

// above is a Meter that changes a part of another one, as that of a node of a cluster does.
type above struct{ System }

// TestBreakdown: memory that was reserved and never used is not among the objects.
func TestBreakdown(t *testing.T) {
	a := NewMonitor(Config{Meter: above{System{Untouched: 1 << 40}}}, Broker{
		Clock: clock.New(), Log: zerolog.Nop(), Block: func(string) {}, Trim: func() {}, Queues: func() int { return 0 },
	})
	if m := a.uses(1 << 20); m.Objects != 0 || m.Runtime == 0 {
		t.Errorf("%+v", m)
	}
}
