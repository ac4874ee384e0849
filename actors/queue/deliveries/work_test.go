package deliveries

import (
	"slices"
	"testing"

	"candlemark/internal/measure/clock"
)

// TestNobodySeesHalf: mail waits until the work is done, in order, behind mail that already waited.
func TestNobodySeesHalf(t *testing.T) {
	var p Pending
	var did []any
	steps := 0
	w := &LongCommand{
		Step: func(clock.Instant) bool { steps++; return steps == 3 },
		End:  func(clock.Instant) { did = append(did, "end") },
	}
	if p.Waits() {
		t.Error("waits for nothing")
	}
	p.Start(w, 0)
	for _, m := range []any{1, 2, 3} {
		if !p.Waits() {
			t.Error("mail overtakes work")
		}
		p.Park(m)
	}
	if _, ok := p.Next(); ok || p.Step(0) || !p.Step(0) || p.Work() != nil {
		t.Error("not three steps")
	}
	for range 2 {
		m, ok := p.Next()
		if !ok || p.Waits() {
			t.Error("what was parked waits again")
		}
		did = append(did, m)
		if p.Handled(); !p.Waits() {
			t.Error("mail overtakes mail")
		}
	}
	if did = append(did, p.All()...); !slices.Equal(did, []any{"end", 1, 2, 3}) || p.Waits() {
		t.Error(did)
	}
}

// TestOneStep: work that fits in one turn is completed in it, and may start other work at its end.
func TestOneStep(t *testing.T) {
	var p Pending
	next := &LongCommand{Step: func(clock.Instant) bool { return false }}
	p.Start(&LongCommand{Step: func(clock.Instant) bool { return true }, End: func(clock.Instant) { p.Later(next) }}, 0)
	if p.Work() != next {
		t.Error("the other work is lost")
	}
}
