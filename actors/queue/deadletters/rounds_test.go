package deadletters

import (
	"fmt"
	"testing"

	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// TestTurn_PRO12: without an exchange a turn drops at most Limit messages, and reports whether there are more.
func TestTurn_PRO12(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.HasDLX = false })
	add := func(n int) {
		f.did = nil
		for range n {
			f.Add(f.push(0), store.Expired)
		}
	}
	add(2*Limit + 1)
	for i, more := range []bool{true, true, false} {
		if got := f.Flush(at(0), clock.Dates{}, 1); got != more || len(f.did) != min((i+1)*Limit, 2*Limit+1) {
			t.Errorf("turn %d: %d dropped, more %v", i, len(f.did), got)
		}
	}
	add(Limit)
	if f.Flush(at(0), clock.Dates{}, 1) || len(f.did) != Limit {
		t.Errorf("%d dropped, and more", len(f.did))
	}
	add(Limit + 10)
	if !f.Flush(at(0), clock.Dates{}, Limit+9) || len(f.did) != Limit+9 {
		t.Errorf("%d dropped by a turn of %d", len(f.did), Limit+9)
	}
}

// TestWaits_LEASE14: the dead letters of an ending queue wait while there is no exchange, also dead letters sent
// before.
func TestWaits_LEASE14(t *testing.T) {
	f := newFixture()
	f.Waits = true
	f.Add(f.push(0), store.Expired)
	f.Flush(at(0), clock.Dates{}, 1)
	f.sent()
	f.Answered(f.keep(1), at(0))
	f.settings.HasDLX = false
	f.Add(f.push(0), store.Expired)
	for _, ms := range []int64{0, 1000, 100_000} {
		f.Flush(at(ms), clock.Dates{}, 1)
		f.Retry(at(ms), clock.Dates{})
	}
	if c := f.Counts(); len(f.sent())+len(f.did) > 0 || c.Len != 2 || c.Waiting != 1 || c.Lost != 0 {
		t.Errorf("%q, %+v", f.did, c)
	}
	f.settings.HasDLX = true
	f.RetryNow(at(100_000))
	f.Flush(at(100_000), clock.Dates{}, 1)
	f.Retry(at(100_000), clock.Dates{})
	f.want(t, "sent", f.sent(), "expired 2", "expired 1")
}

// TestLast_LEASE15: at the last attempt a refused message is lost, and counted with the dropped ones.
func TestLast_LEASE15(t *testing.T) {
	f := newFixture()
	f.Last = true
	for range 3 {
		f.Add(f.push(0), store.Expired)
	}
	f.Flush(at(0), clock.Dates{}, 1)
	r := f.keep(2)
	r.IDs, r.Dropped = []mail.Range{{First: 1, Last: 1}, {First: 3, Last: 3}}, 1
	f.Answered(r, at(0))
	if c := f.Counts(); c.Len != 0 || c.Lost != 2 {
		t.Errorf("%+v", c)
	}
}

// TestRemainingTTL: a forwarded message keeps its deadline or, without one, its own TTL; a dead letter keeps its own TTL.
func TestRemainingTTL(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = true, "x" })
	f.Forward(f.push(1000), false)
	f.Forward(f.push(store.Never-start), false)
	f.Add(f.push(1000), store.Rejected)
	f.Flush(at(400), clock.Dates{}, 1)
	var got []string
	for _, p := range f.out {
		for _, m := range p.Mail.(*mail.DeadLetter).Messages {
			got = append(got, fmt.Sprint(m.Number, " ", m.TTL))
		}
	}
	own := fmt.Sprint(f.out[1].Mail.(*mail.DeadLetter).Messages[0].TTL)
	f.want(t, "TTLs", got, "1 600", "2 "+own, "3 "+own)
}

// TestRoundsWithinTheLimit_PRO12: retained messages make room for others, and are sent again when there is room.
func TestRoundsWithinTheLimit_PRO12(t *testing.T) {
	f := newFixture()
	for range Limit + 2 {
		f.Add(f.push(0), store.Expired)
	}
	f.Flush(at(0), clock.Dates{}, 1)
	f.Answered(f.keep(1, 2, 3), at(0))
	if n := f.Counts().UnderWay; n != Limit-3 {
		t.Errorf("%d under way", n)
	}
	f.Flush(at(0), clock.Dates{}, 1)
	f.sent()
	if n := f.Counts().UnderWay; n != Limit-1 {
		t.Errorf("%d under way", n)
	}
	f.Retry(at(1000), clock.Dates{})
	f.want(t, "room for one", f.sent(), "expired 1")
	if next, ok := f.Next(); !ok || next != start+3000 {
		t.Errorf("the next round is at %d ms", next-start)
	}
	f.Retry(at(3000), clock.Dates{})
	f.want(t, "no room", f.sent())
	f.Answered(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: 100, Last: 200}}}, at(3000))
	next, _ := f.Next()
	if next != start+7000 { // a first return does not delay the round of waiting messages
		t.Errorf("the next round is at %d ms", next-start)
	}
	f.Retry(at(7000), clock.Dates{})
	f.want(t, "room for all", f.sent(), "expired 2 3")
	if next, ok := f.Next(); ok {
		t.Errorf("nobody waits, and the next round is at %d ms", next-start)
	}
	f.RetryNow(at(7000))
	if next, ok := f.Next(); ok {
		t.Errorf("nobody waits, and there is a round at %d ms", next-start)
	}
}

// TestRoomToForward: at most ForwardLimit messages are being forwarded.
func TestRoomToForward(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = true, "x" })
	for i := range ForwardLimit {
		if !f.CanForward() {
			t.Fatalf("no room for message %d", i+1)
		}
		f.Forward(f.push(1000), false)
	}
	if f.CanForward() {
		t.Error("there is room")
	}
}

// TestLossesAreCounted: a loss that is reported twice counts once.
func TestLossesAreCounted(t *testing.T) {
	f := newFixture()
	f.Add(f.push(0), store.Expired)
	for want := range uint64(3) {
		f.Flush(at(0), clock.Dates{}, 1)
		if m := f.out[0].Mail.(*mail.DeadLetter); m.Epoch != want || f.Counts().Epoch != want {
			t.Errorf("epoch %d, want %d", m.Epoch, want)
		}
		f.sent()
		lost := &mail.DeadLetterReply{Incarnation: 7, Lost: true, Epoch: want}
		f.Answered(lost, at(0))
		f.Answered(lost, at(0))
	}
}

// TestExceeded_DL32: a message that could not be forwarded because of its copies ends with the reason copies.
func TestExceeded_DL32(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = true, "x" })
	for range 3 {
		f.Forward(f.push(1000), false)
	}
	f.Flush(at(0), clock.Dates{}, 1)
	f.want(t, "sent", f.sent(), "forwarded 1 2 3")
	f.Answered(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: 2, Last: 2}}, Exceeded: []uint64{1, 3, 9}}, at(0))
	f.Flush(at(0), clock.Dates{}, 1)
	f.want(t, "done", f.did, "remove 2", "end 1", "end 3")
	f.want(t, "dead-lettered", f.sent(), "copies 4 5")
	if c := f.Counts(); c.Forwarding != 0 || c.UnderWay != 2 || c.Len != 2 {
		t.Errorf("%+v", c)
	}
}

// TestTransitIsBounded_DL33: while memory is tight, only some bytes are under way.
func TestTransitIsBounded_DL33(t *testing.T) {
	f := newFixture()
	const messages, most = 3000, paging.WindowIdle / 32 / 4 // bodies have 4 bytes
	f.pager.Idle = 0
	for range messages {
		f.Add(f.push(0), store.Expired)
	}
	f.memory.OverLimit = true
	for range 2 {
		f.Flush(at(0), clock.Dates{}, 1)
		if n := f.Counts().UnderWay; n != most {
			t.Errorf("%d under way", n)
		}
	}
	f.Answered(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: 1, Last: most}}}, at(0))
	f.Flush(at(0), clock.Dates{}, 1)
	if n := f.Counts().UnderWay; n != messages-most {
		t.Errorf("%d under way", n)
	}
}
