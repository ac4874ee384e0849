package numbers

import (
	"testing"

	"candlemark/internal/routing/topology"
)

// TestNumbers_SBE18: numbers begin with 1 in the start in which the queue was declared, grow from start to start, and are exact in JavaScript.
func TestNumbers_SBE18(t *testing.T) {
	durable, later := OfQueue(&topology.Queue{Durable: true, Incarnation: 7}), OfQueue(&topology.Queue{Durable: true, Incarnation: 3*PerStart + 9})
	transient := OfQueue(&topology.Queue{Incarnation: 3 * PerStart})
	for _, c := range []struct {
		of     Of
		number uint64
		shown  int64
	}{
		{durable, Begin + 1, 1},
		{durable, Begin + 2, 2},
		{durable, Begin + shownEach - 1, shownEach - 1},
		{durable, Begin + Each + 1, shownEach + 1},
		{durable, Begin + 390_000*Each + 5, 390_000*shownEach + 5},
		{later, Begin + 3*Each + 1, 1},
		{later, Begin + 4*Each + 1, shownEach + 1},
		{later, Begin - 5, Begin - 5},
		{durable, 1_700_000_000_000_000_000, 1_700_000_000_000_000_000}, // of versions before ADR 28
		{transient, 1, 1},
		{transient, 5, 5},
		{durable, 0, 0},
	} {
		if got := c.of.Shown(c.number); got != c.shown {
			t.Errorf("%+v: %d is shown as %d, want %d", c.of, c.number, got, c.shown)
		}
		if got := c.of.Number(c.shown); got != c.number {
			t.Errorf("%+v: %d stands for %d, want %d", c.of, c.shown, got, c.number)
		}
		if c.number >= Begin && int64(float64(c.shown)) != c.shown {
			t.Errorf("%d is not exact in JavaScript", c.shown)
		}
	}
	if durable.Number(-3) != 0 || transient.Number(-3) != 0 {
		t.Error("a negative number stands for a message")
	}
}
