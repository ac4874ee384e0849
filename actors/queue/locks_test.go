package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// locks lists the unsettled deliveries.
func (c *core) locks(after uint64, limit int) *mail.UnackedPage {
	c.feed(&mail.ListUnacked{Request: mail.Request{ReplyTo: ch1}, After: after, Limit: limit})
	return one[*mail.UnackedPage](c)
}

func (c *core) renews(m mail.RenewLock) (count int, until int64) {
	c.t.Helper()
	m.ReplyTo = ch1
	c.feed(&m)
	r := one[*mail.RenewLockReply](c)
	if r.Locked == 0 {
		return r.Count, 0
	}
	return r.Count, r.Locked - start
}

// TestLocksAreVisible_ADR10: each delivery is listed with its holder, its start and its deadline.
func TestLocksAreVisible_ADR10(t *testing.T) {
	c := newCore(t, timeout(5000))
	c.at(1500)
	c.consume(ch1, "a", 2, timeoutOf(3000))
	c.publish(msg("1", -1), msg("22", 9000), msg("333", -1))
	c.at(2500)
	c.get(ch2)
	p := c.locks(0, 0)
	if len(p.Deliveries) != 3 || p.More {
		t.Fatalf("%+v", p)
	}
	first := p.Deliveries[0].Seq
	for i, want := range []mail.UnackedDelivery{
		{Seq: first, Channel: ch1, Tag: "a", Number: 1, Delivered: start + 1500, Locked: start + 4500, Size: 1},
		{Seq: first + 1, Channel: ch1, Tag: "a", Number: 2, Delivered: start + 1500, Locked: start + 4500, Size: 2, Expires: start + 10_500},
		{Seq: first + 2, Channel: ch2, Number: 1, Delivered: start + 2500, Locked: start + 7500, Size: 3},
	} {
		if p.Deliveries[i] != want {
			t.Errorf("%d: %+v, want %+v", i, p.Deliveries[i], want)
		}
	}
	if p = c.locks(first, 1); len(p.Deliveries) != 1 || p.Deliveries[0].Seq != first+1 || !p.More {
		t.Errorf("%+v", p)
	}
	if p = c.locks(first+1, 1); len(p.Deliveries) != 1 || p.More {
		t.Errorf("%+v", p)
	}
	before := c.lease
	if c.locks(0, 0); c.lease != before {
		t.Error("the lease was renewed")
	}
}

// TestLocksAreRenewed_ADR10: locks are renewed by message, by delivery or by consumer, from the time of the renewal, any number
// of times.
func TestLocksAreRenewed_ADR10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 2)
	c.put("1", "2", "3")
	c.get(ch2)
	seq := c.locks(0, 0).Deliveries[0].Seq
	c.at(600)
	if n, until := c.renews(mail.RenewLock{Seq: seq}); n != 1 || until != 1600 {
		t.Errorf("by message: %d until %d", n, until)
	}
	if n, until := c.renews(mail.RenewLock{Channel: ch2, Number: 1}); n != 1 || until != 1600 {
		t.Errorf("by delivery: %d until %d", n, until)
	}
	c.at(1000)
	c.wantNumbers("back", c.returned(), 2)
	c.want("ready", c.ready(), "2")
	c.at(1200)
	if n, until := c.renews(mail.RenewLock{Tag: "a"}); n != 1 || until != 2200 {
		t.Errorf("by consumer: %d until %d", n, until)
	}
	c.at(1600)
	c.wantNumbers("back", c.returned(), 1) // the delivery of ch2
	if n, _ := c.renews(mail.RenewLock{Channel: ch2, Number: 1}); n != 0 {
		t.Error("a lock was renewed that had run out")
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.settle(ch2, mail.Ack, 1, 1)
	if c.Counts.Ack != 1 || c.Counts.Late != 1 || c.Counts.TimedOut != 2 {
		t.Errorf("%+v", c.Counts)
	}
	for _, m := range []mail.RenewLock{{Seq: seq}, {Seq: 1 << 60}, {Channel: ch1, Number: 1}, {Channel: owner, Number: 1}, {Tag: "b"}} {
		if n, _ := c.renews(m); n != 0 {
			t.Errorf("%+v: renewed", m)
		}
	}
}

// TestRenewalNeverShortens_ADR10: a renewal uses the current timeout, never shortens a lock, and does not lock a delivery without
// one.
func TestRenewalNeverShortens_ADR10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2")
	c.get(ch1)
	c.feed(&mail.Configure{Settings: settings(timeout(10))})
	if n, until := c.renews(mail.RenewLock{Channel: ch1, Number: 1}); n != 1 || until != 1000 {
		t.Errorf("%d until %d", n, until)
	}
	c.feed(&mail.Configure{Settings: settings()})
	c.get(ch1)
	c.feed(&mail.Configure{Settings: settings(timeout(2000))})
	if n, until := c.renews(mail.RenewLock{Channel: ch1, Number: 1}); n != 1 || until != 2000 {
		t.Errorf("%d until %d", n, until)
	}
	if n, until := c.renews(mail.RenewLock{Channel: ch1, Number: 2}); n != 1 || until != 0 {
		t.Errorf("%d until %d", n, until)
	}
}

// TestExpiredGoesWhenItsLockEnds_TTL16: a message whose deadline passes while it is locked stays with its holder, and expires at
// the end of the lock: it is dead-lettered and not redelivered.
func TestExpiredGoesWhenItsLockEnds_TTL16(t *testing.T) {
	c := newCore(t, timeout(1000), dlx)
	c.consume(ch1, "a", 1)
	c.publish(msg("1", 300), msg("2", -1))
	c.at(900)
	if n, until := c.renews(mail.RenewLock{Tag: "a"}); n != 1 || until != 1900 {
		t.Fatalf("%d until %d", n, until)
	}
	if dead := c.seenOff(); len(dead) != 0 {
		t.Fatalf("%q before the lock ended", dead)
	}
	c.delivered("a")
	c.consume(ch2, "b", 1)
	c.at(1899)
	c.want("ready", c.ready())
	c.at(1900)
	c.want("dead", c.seenOff(), "expired 1")
	c.want("b", c.delivered("b"), "2")
}

// TestDatesGoByTheWallClock_ADR19: all dates shown follow the wall clock, even if the clock was set in between.
func TestDatesGoByTheWallClock_ADR19(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.publish(msg("1", 5000))
	c.Dates = clock.Ahead(3_600_000)
	c.get(ch1)
	const set = start + 3_600_000
	if m := c.peek(mail.Peek{}).Messages[0]; m.Enqueued != set || m.Expires != set+5000 || m.Locked != set+1000 {
		t.Errorf("%+v", m)
	}
	if d := c.locks(0, 0).Deliveries[0]; d.Delivered != set || d.Expires != set+5000 || d.Locked != set+1000 {
		t.Errorf("%+v", d)
	}
	c.at(500)
	if _, until := c.renews(mail.RenewLock{Channel: ch1, Number: 1}); until != 3_600_000+1500 {
		t.Error(until)
	}
	c.at(1499)
	if len(c.returned()) != 0 {
		t.Error("early")
	}
	c.at(1500)
	c.wantNumbers("back", c.returned(), 1)
}

// takeBack requests the return of a message's delivery, and reports whether there was one.
func (c *core) takeBack(seq uint64) bool {
	c.t.Helper()
	c.feed(&mail.ReturnDelivery{Request: mail.Request{ReplyTo: owner}, Seq: seq})
	return one[*mail.ReturnDeliveryReply](c).Found
}

// TestReturn_ADR10: a delivery returned on request is requeued at its position as redelivered; its consumer is notified, and
// settling it has no effect. The consumer stays, and the return frees its prefetch.
func TestReturn_ADR10(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 2)
	c.put("1", "2", "3")
	c.want("first", c.delivered("a"), "1", "2")
	first := c.locks(0, 0).Deliveries[0].Seq
	if !c.takeBack(first) {
		t.Fatal("nobody holds it")
	}
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	returned := one[*mail.DeliveriesRequeued](c)
	if !returned.Asked || !returned.Covers(1) || returned.Covers(2) {
		t.Errorf("%+v", returned)
	}
	if got := all[*mail.ConsumerCancelled](c); len(got) > 0 {
		t.Error("the consumer was cancelled")
	}
	d := one[*mail.Deliver](c) // redelivered to the same consumer
	if len(d.Items) != 1 || string(d.Items[0].Message.Body) != "1" || !d.Items[0].Redelivered || d.Items[0].Number != 3 {
		t.Errorf("%+v", d)
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.settle(ch1, mail.Reject, 1, 1)
	if c.Counts.Ack != 0 || c.Counts.Late != 2 || c.Counts.TimedOut != 0 || c.Backlog.Len() != 3 {
		t.Errorf("%+v, %d messages", c.Counts, c.Backlog.Len())
	}
	c.settle(ch1, mail.Ack, 2, 3)
	if c.takeBack(first) || c.takeBack(1<<60) {
		t.Error("what nobody holds was returned")
	}
	c.want("ready", c.ready(), "3")
	c.get(ch2)
	if p := c.locks(0, 0); !c.takeBack(p.Deliveries[0].Seq) {
		t.Error("not that of basic.get")
	}
	c.want("ready", c.ready(), "3")
}

// TestReturnLate_TTL22: a message returned past its deadline expires, and one returned too often is dead-lettered (DL-9).
func TestReturnLate_TTL22(t *testing.T) {
	c := newQuorum(t, dlx, func(s *policies.QueueSettings) { s.DeliveryLimit = 1 })
	c.publish(msg("1", -1), msg("2", 100))
	c.get(ch1)
	held := func() uint64 { return c.locks(0, 0).Deliveries[0].Seq }
	c.takeBack(held())
	c.want("ready", c.ready(), "1", "2")
	c.get(ch1)
	c.takeBack(held())
	c.want("dead", c.seenOff(), "delivery_limit 1")
	c.get(ch1)
	c.at(100)
	c.takeBack(held())
	c.want("dead", c.seenOff(), "expired 2")
}

// TestReturnAfterRestart_ADR16: the return is recorded in the journal, and the queue has the message once after a
// restart.
func TestReturnAfterRestart_ADR16(t *testing.T) {
	c := durableCore(t)
	c.publish(persistentMsg("1", -1))
	c.get(ch1)
	c.takeBack(c.locks(0, 0).Deliveries[0].Seq)
	c.settle(ch1, mail.Ack, 1, 1)
	if last := c.records[len(c.records)-1]; last.Kind != store.Returned || last.First != 1 {
		t.Errorf("%+v", last)
	}
	next := c.restarted(1000)
	next.want("ready", next.ready(), "1")
}
