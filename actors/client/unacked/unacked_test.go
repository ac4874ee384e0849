package unacked

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/system/mail"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sender records settlements.
type sender struct{ sent []string }

func (s *sender) Self() mail.Address { return nil }

func (s *sender) Send(_ mail.Address, what any) {
	for _, r := range what.(*mail.Settle).Ranges {
		s.sent = append(s.sent, fmt.Sprint(r.First, r.Last, r.How))
	}
}

func TestDeliveries(t *testing.T) {
	s := &sender{}
	d := New(s)
	q, gone := &Queue{}, &Queue{}
	check := func(late, counted int, want ...string) {
		t.Helper()
		d.Flush()
		unacked, _ := d.Limit.Load()
		if d.Late() != late || unacked != counted || !slices.Equal(s.sent, want) {
			t.Errorf("%d late, %d counted, sent %q, want %q", d.Late(), unacked, s.sent, want)
		}
		s.sent = nil
	}
	for i, got := range []bool{false, true, false, false} { // tags 1 to 4
		d.Tag(q, uint64(11+i), got)
	}
	d.Tag(q, 0, false)
	if tag := d.Tag(gone, 1, false); tag != 6 {
		t.Errorf("tag %d", tag)
	}
	check(0, 4)
	for tag, want := range map[uint64]bool{0: false, 1: true, 5: false, 6: true, 7: false} {
		if _, _, ok := d.Range(tag, false); ok != want {
			t.Errorf("tag %d: %v", tag, ok)
		}
	}
	if first, last, ok := d.Range(0, true); first != 1 || last != 6 || !ok {
		t.Error(first, last, ok)
	}
	back := &mail.DeliveriesRequeued{Numbers: []mail.Range{{First: 13, Last: 14}}}
	var taken Unacked
	d.Take(4, 4, func(_ uint64, u Unacked) { taken = u })
	d.Return(q, back)
	d.ReturnTaken(&taken, q, back)
	d.Restore(4, taken)
	check(2, 2)
	gone.Gone = true
	d.SettleRange(1, 6, mail.Ack)
	check(0, 0, fmt.Sprint(11, 14, mail.Ack)) // in one range, and nothing to the queue that is gone
	if d.Acked() != 5 || d.Len() != 0 {
		t.Errorf("%d acked, %d left", d.Acked(), d.Len())
	}
	d.Tag(q, 20, true)
	d.Clear()
	if d.Acked() != 5 || d.Len() != 0 || d.Last() != 0 {
		t.Error("not cleared, or too much")
	}
}
