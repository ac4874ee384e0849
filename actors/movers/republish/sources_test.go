package republish

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/topology"
)

// TestDL33_SourcesTakeTurns: dead letters of one queue do not wait for all of another's; dead letters of one queue keep
// their order.
func TestDL33_SourcesTakeTurns(t *testing.T) {
	var x sources
	batchOf := func(name string) *batch {
		b := &batch{DeadLetter: &mail.DeadLetter{From: address.Named(name), Queue: name}}
		x.add(b)
		return b
	}
	a1, a2, a3, b1, c1 := batchOf("a"), batchOf("a"), batchOf("a"), batchOf("b"), batchOf("c")
	turn := func(want *batch, done bool, change func(*batch)) {
		t.Helper()
		s := x.take()
		if s == nil || s.batches[0] != want {
			t.Fatalf("%+v, want %s", s, want.Queue)
		}
		if change != nil {
			change(want)
		}
		if done {
			s.batches = s.batches[1:]
		}
		x.put(s)
	}
	turn(a1, false, nil)
	turn(b1, false, func(b *batch) { b.held = true })
	turn(c1, false, func(b *batch) { b.waiting = &topology.Long{} })
	turn(a1, true, nil)
	turn(a2, true, nil)
	x.release(1)
	if !x.found(c1) || x.found(c1) || x.found(&batch{DeadLetter: c1.DeadLetter}) || x.found(&batch{DeadLetter: &mail.DeadLetter{From: address.Named("d")}}) {
		t.Error("found")
	}
	turn(a3, true, nil)
	turn(b1, true, nil)
	n := 0
	if x.each(func(b *batch) { n++ }); n != 1 {
		t.Errorf("%d batches", n)
	}
	turn(c1, true, nil)
	if x.take() != nil || len(x.all) > 0 || x.next != nil || x.held != nil {
		t.Errorf("left: %+v", x)
	}
}
