package queue

import (
	"testing"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// take attaches a consumer of an entity and returns its deliveries.
func (c *core) take(ch mail.Address, tag string, change ...func(*mail.Consume)) (all []mail.Delivery) {
	c.t.Helper()
	c.consume(ch, tag, 0, append(change, facts, stays)...)
	return c.items()
}

// detachLink cancels a consumer and leaves the deliveries from first to last locked without a link.
func (c *core) detachLink(ch mail.Address, tag string, first, last uint64) {
	c.t.Helper()
	c.feed(&mail.CancelConsumer{Request: mail.Request{ReplyTo: ch}, Channel: ch, Tag: tag})
	one[*mail.CancelConsumerReply](c)
	c.settle(ch, mail.Leave, first, last)
}

func (c *core) settleLocked(how mail.Settlement, list ...mail.Delivery) bool {
	c.t.Helper()
	m := &mail.SettleLocked{Request: mail.Request{ReplyTo: owner}, How: how, Connection: other}
	for _, d := range list {
		m.Locks = append(m.Locks, mail.Lock{Seq: d.Facts.Seq, Lock: d.Facts.Lock})
	}
	c.feed(m)
	return one[*mail.SettleLockedReply](c).Held
}

// TestLeave_LOCK10: deliveries left by a link stay locked until their locks end, even if the channel ends; then they are requeued
// at their positions and counted.
func TestLeave_LOCK10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2")
	got := c.take(ch1, "a")
	c.at(400)
	c.detachLink(ch1, "a", 1, 2)
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.take(ch2, "b")
	if p := c.locks(0, 0); len(p.Deliveries) != 2 || p.Deliveries[0].Channel != nil || p.Deliveries[0].Locked != start+1000 {
		t.Fatalf("%+v", p)
	}
	c.at(999)
	if list := c.items(); len(list) != 0 || c.consumers.Unacked() != 2 || c.openChannels() != 2 {
		t.Fatalf("%v, %d unacked, %d channels", list, c.consumers.Unacked(), c.openChannels())
	}
	c.at(1000)
	list := c.items()
	if len(list) != 2 || text(list[0]) != "1*" || text(list[1]) != "2*" || list[0].Facts.DeliveryCount != 1 || c.Counts.TimedOut != 2 {
		t.Fatalf("%+v, %+v", list, c.Counts)
	}
	if c.settleLocked(mail.Ack, got[0]) {
		t.Error("settled after its lock had run out")
	}
	if c.openChannels() != 1 || len(all[*mail.DeliveriesRequeued](c)) != 0 || c.Counts.Late != 0 {
		t.Error("something is left")
	}
}

// TestLeaveSettled_LOCK10: they can be settled and renewed with the same locks as before, by any connection.
func TestLeaveSettled_LOCK10(t *testing.T) {
	c := newCore(t, timeout(5000), dlx)
	c.put("1", "2", "3", "4")
	got := c.take(ch1, "a", timeoutOf(1000))
	c.detachLink(ch1, "a", 1, 4)
	c.feed(&mail.PeerGone{Who: ch1})
	c.at(600)
	m := mail.RenewLock{Locks: []mail.Lock{{Seq: got[3].Facts.Seq, Lock: got[3].Facts.Lock}}}
	if n, until := c.renews(m); n != 1 || until != 1600 { // with the consumer's own timeout
		t.Errorf("%d until %d", n, until)
	}
	if !c.settleLocked(mail.Ack, got[0]) || c.settleLocked(mail.Ack, got[0], got[1]) || !c.settleLocked(mail.Reject, got[1]) {
		t.Error("not settled, or twice")
	}
	c.want("dead", c.seenOff(), "rejected 2")
	if !c.takeBack(got[2].Facts.Seq) {
		t.Error("3 was not found")
	}
	c.want("ready", c.ready(), "3")
	c.at(1599)
	c.want("ready", c.ready(), "3")
	c.at(1600)
	c.want("ready", c.ready(), "3", "4")
	if n, _ := c.renews(m); n != 0 || !c.consumers.Channelless() {
		t.Errorf("%d renewed, %d channels", n, c.openChannels())
	}
}

// TestLeaveRequeues_LOCK10: deliveries whose locks cannot outlive the link are requeued at once: deliveries of other
// kinds of consumers, of queues without a lock duration, with a lock that has ended, and deliveries not left explicitly
// when the channel ends.
func TestLeaveRequeues_LOCK10(t *testing.T) {
	for name, x := range map[string]struct {
		ms     int64
		change func(*mail.Consume)
	}{"no facts": {1000, func(m *mail.Consume) { m.Facts = false }}, "no lock": {-1, func(m *mail.Consume) { m.Stays = false }}} {
		c := newCore(t, timeout(x.ms))
		c.put("1")
		c.consume(ch1, "a", 0, facts, stays, x.change)
		c.detachLink(ch1, "a", 1, 1)
		c.want(name, c.ready(), "1")
	}
	c := newCore(t, timeout(1000))
	c.put("1", "2", "3")
	c.take(ch1, "a")
	c.settle(ch1, mail.Leave, 1, 1)
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.want("not received", c.ready(), "2", "3")
	c.take(ch2, "b")
	c.now += 1000e6 // timer late
	c.settle(ch2, mail.Leave, 1, 1)
	if c.Counts.TimedOut < 1 {
		t.Error("not counted")
	}
	c.at(1001)
	c.want("late", c.ready())
	if n := len(c.items()); n != 3 {
		t.Error(n)
	}
}

// TestLeaveExpires_LOCK10: a message that expires while it is locked without a link is dead-lettered when the lock ends; a purge
// does not remove it, a deletion of the queue does.
func TestLeaveExpires_LOCK10(t *testing.T) {
	c := newCore(t, timeout(1000), dlx)
	c.publish(msg("1", 300), msg("2", -1))
	c.take(ch1, "a")
	c.detachLink(ch1, "a", 1, 2)
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	c.at(999)
	if dead := c.seenOff(); len(dead) != 0 || c.Backlog.Len() != 2 {
		t.Fatalf("%q, %d messages", dead, c.Backlog.Len())
	}
	c.at(1000)
	c.want("dead", c.seenOff(), "expired 1")
	c.want("ready", c.ready(), "2")
	c.take(ch1, "a")
	c.detachLink(ch1, "a", 1, 3)
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
	c.feed(&mail.QueueForgotten{})
	if one[*mail.DeleteQueueReply](c).Err != nil {
		t.Error("not deleted")
	}
}

// TestLeavePrepared_LOCK10: deliveries of a transaction that ends with its session also stay locked.
func TestLeavePrepared_LOCK10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1")
	c.take(ch1, "a")
	c.feed(&mail.PrepareWork{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Numbers: []uint64{1}})
	if err := one[*mail.PrepareWorkReply](c).Err; err != nil {
		t.Fatal(err)
	}
	c.detachLink(ch1, "a", 1, 1)
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.at(999)
	c.want("early", c.ready())
	c.at(1000)
	c.want("ready", c.ready(), "1")
}

// TestLeaveMany_LOCK10: links that repeatedly receive, leave and end share one record in the queue.
func TestLeaveMany_LOCK10(t *testing.T) {
	c := newCore(t, timeout(1000), func(s *policies.QueueSettings) { s.MaxLength = -1 })
	for range 200 {
		c.put("m")
		c.take(ch1, "a")
		c.detachLink(ch1, "a", 1, 1)
		c.feed(&mail.ChannelGone{Channel: ch1})
	}
	n := 0
	c.consumers.Channels(func(h *consumers.Holder) { n += h.Unacked.Len() })
	if c.openChannels() != 1 || n != 200 {
		t.Errorf("%d channels, %d deliveries", c.openChannels(), n)
	}
	c.at(1000)
	if c.Backlog.Ready() != 200 || !c.consumers.Channelless() {
		t.Errorf("%d ready, %d channels", c.Backlog.Ready(), c.openChannels())
	}
}

// TestLeaveDeferred_LOCK10: a deferred message received by its number stays locked when the channel ends, can be renewed and
// settled by its lock, and is deferred again and counted when the lock ends.
func TestLeaveDeferred_LOCK10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2")
	c.deferring(2)
	got := c.receive(false, 1, 2).Deliveries
	c.at(400)
	c.feed(&mail.ChannelGone{Channel: ch1})
	if c.want("locked", c.deferredBodies()); c.consumers.Unacked() != 2 {
		t.Fatalf("%d unacked", c.consumers.Unacked())
	}
	c.feed(&mail.RenewLock{Request: mail.Request{ReplyTo: owner}, Locks: []mail.Lock{{Seq: 2, Lock: got[1].Facts.Lock}}})
	if r := one[*mail.RenewLockReply](c); r.Count != 1 || r.Locked != start+1400 {
		t.Errorf("%+v", r)
	}
	if !c.settleLocked(mail.Ack, got[0]) || c.Backlog.Len() != 1 {
		t.Errorf("%d messages", c.Backlog.Len())
	}
	c.at(1399)
	c.want("renewed", c.deferredBodies())
	c.at(1400)
	if c.want("deferred", c.deferredBodies(), "2"); c.Counts.TimedOut != 1 || c.settleLocked(mail.Ack, got[1]) {
		t.Errorf("%+v", c.Counts)
	}
	if d := c.receive(false, 2).Deliveries; len(d) != 1 || d[0].Facts.DeliveryCount != 2 {
		t.Errorf("%+v", d)
	}
}
