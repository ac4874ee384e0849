package queue

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// deferring defers the first n messages.
func (c *core) deferring(n int) {
	c.t.Helper()
	for range n {
		number := c.get(ch2).Delivery.Number
		c.settle(ch2, mail.Defer, number, number)
	}
}

func (c *core) receive(noAck bool, seqs ...uint64) *mail.ReceiveDeferredReply {
	c.t.Helper()
	c.feed(&mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Connection: owner, Seqs: seqs, NoAck: noAck})
	return one[*mail.ReceiveDeferredReply](c)
}

func received(r *mail.ReceiveDeferredReply) (list []string) {
	for _, d := range r.Deliveries {
		list = append(list, fmt.Sprint(d.Facts.Seq, " ", text(d)))
	}
	return list
}

func (c *core) describe1() *mail.QueueInfo {
	c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}})
	return one[*mail.QueueInfo](c)
}

// TestDeferred_DEFER1: deferred messages are not delivered; they are kept, shown and counted, but do not count towards limits.
func TestDeferred_DEFER1(t *testing.T) {
	c := newCore(t, maxLength(2, "reject-publish"))
	c.put("1", "2")
	c.deferring(1)
	c.put("3", "4") // there is room for one
	c.want("ready", c.ready(), "2", "3")
	c.consume(ch1, "a", 0)
	c.want("delivered", c.delivered("a"), "2", "3")
	for _, m := range []mail.Peek{{Cut: -1}, {Cut: -1, ByNumber: true}, {Cut: -1, States: mail.Deferred | mail.Unacked, Limit: 2}} {
		if m.Limit > 0 {
			r := c.peek(m)
			m.After = *r.Next
			if rest := c.peek(m); len(r.Messages)+len(rest.Messages) != 3 {
				t.Errorf("%d and %d messages", len(r.Messages), len(rest.Messages))
			}
			continue
		}
		if got := c.peek(m).Messages; len(got) != 3 || got[0].State != mail.Deferred || got[0].Seq != 1 || got[1].State != mail.Unacked {
			t.Errorf("%+v", got)
		}
	}
	if info := c.describe1(); info.Deferred != 1 || info.Ready != 0 || info.Unacked != 2 || info.UnackedBytes != 2 {
		t.Errorf("%d deferred, %d ready, %d unacked of %d bytes", info.Deferred, info.Ready, info.Unacked, info.UnackedBytes)
	}
	if r := c.receive(false, 1).Deliveries[0]; r.Facts.DeliveryCount != 1 {
		t.Error("to be deferred does not count")
	}
}

// TestDeferredTooOften_DEFER1: deferring counts as a delivery, with the queue's limit.
func TestDeferredTooOften_DEFER1(t *testing.T) {
	c := newQuorum(t, dlx, func(s *policies.QueueSettings) { s.DeliveryLimit = 2 })
	c.put("1")
	c.deferring(1)
	for count := uint32(1); count <= 2; count++ {
		d := c.receive(false, 1).Deliveries[0]
		if d.Facts.DeliveryCount != count {
			t.Errorf("%d, want %d", d.Facts.DeliveryCount, count)
		}
		c.settle(ch1, mail.Defer, d.Number, d.Number)
	}
	c.want("dead", c.seenOff(), "delivery_limit 1")
}

// TestReceiveDeferred_DEFER2: a deferred message is received by its number, by one receiver at a time, with a lock; when
// requeued, it is deferred again and counted.
func TestReceiveDeferred_DEFER2(t *testing.T) {
	c := newCore(t, timeout(1000), dlx)
	c.put(bodies(1, 6)...)
	c.deferring(5)
	c.want("in the order asked for", received(c.receive(false, 3, 99, 1, 6, 3)), "3 3*", "1 1*")
	c.want("held", received(c.receive(false, 1, 3)))
	c.settle(ch1, mail.Requeue, 1, 1)
	again := c.receive(false, 3)
	if c.want("abandoned", received(again), "3 3*"); again.Deliveries[0].Facts.DeliveryCount != 2 || again.Deliveries[0].Facts.Locked != start+1000 {
		t.Errorf("%+v", again.Deliveries[0].Facts)
	}
	c.at(999)
	c.want("locked", received(c.receive(false, 1)))
	c.at(1000)
	if again = c.receive(false, 1); len(again.Deliveries) != 1 || again.Deliveries[0].Facts.DeliveryCount != 2 {
		t.Fatalf("%+v", again.Deliveries)
	}
	number := again.Deliveries[0].Number
	c.settle(ch1, mail.Reject, number, number)
	c.want("dead", c.seenOff(), "rejected 1")
	r := c.receive(true, 3, 4)
	if c.want("without acknowledgement", received(r), "3 3*", "4 4*"); r.Deliveries[0].Number != 0 || r.Deliveries[0].Facts.Lock != 0 {
		t.Errorf("%+v", r.Deliveries[0])
	}
	c.receive(false, 2)
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.want("still locked", c.deferredBodies(), "5") // LOCK-10
	c.at(2000)
	c.want("deferred", c.deferredBodies(), "2", "5")
	c.want("ready", c.ready(), "6")
	c.receive(false, 2)
	c.settle(ch1, mail.Ack, 1, 1)
	if c.Backlog.Len() != 2 {
		t.Errorf("%d messages", c.Backlog.Len())
	}
	if got := c.receive(false); len(got.Deliveries) != 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
}

// TestReceiveBound_DEFER2: an answer is limited, and names the messages not looked at.
func TestReceiveBound_DEFER2(t *testing.T) {
	c := newCore(t)
	c.put(bodies(1, mail.MaxClaimed+10)...)
	c.deferring(mail.MaxClaimed + 10)
	var seqs []uint64
	for i := range mail.MaxClaimed + 10 {
		seqs = append(seqs, uint64(1+i))
	}
	if r := c.receive(false, seqs...); len(r.Deliveries) != mail.MaxClaimed || !slices.Equal(r.Left, seqs[mail.MaxClaimed:]) {
		t.Errorf("%d received, %d left", len(r.Deliveries), len(r.Left))
	}
	large := msg("", -1)
	large.Body = make([]byte, mail.ClaimBytes)
	c = newCore(t)
	c.publish(large, large)
	c.deferring(2)
	if r := c.receive(false, 1, 2); len(r.Deliveries) != 1 || !slices.Equal(r.Left, []uint64{2}) {
		t.Errorf("%d received, %v left", len(r.Deliveries), r.Left)
	}
}

// TestReceiveRead_DEFER2: a paged-out content is read first; messages that cannot be read, or are taken back during the
// read, are left out.
func TestReceiveRead_DEFER2(t *testing.T) {
	for _, noAck := range []bool{false, true} {
		cfg := testConfig(settings(timeout(1000)))
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		for i := range 4 {
			c.publish(persistentMsg(fmt.Sprint(1+i), -1))
		}
		c.deferring(4)
		c.pressed, c.Pager.Idle = func() bool { return true }, 0
		c.feed(&mail.Trim{})
		c.pressed, c.OverLimit = nil, false
		if c.Backlog.Paged() != 4 {
			t.Fatalf("%d paged out", c.Backlog.Paged())
		}
		c.want("read", received(c.receive(noAck, 1)), "1 1*")
		c.disk.bad = map[uint64]error{2: store.ErrDamaged}
		c.want("damaged", received(c.receive(noAck, 2, 3)), "3 3*")
		c.disk.late = true
		c.feed(&mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Connection: owner, Seqs: []uint64{4}, NoAck: noAck})
		if noAck {
			c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
		} else {
			c.at(1000)
		}
		c.disk.late = false
		c.arrive()
		c.want("too late", received(one[*mail.ReceiveDeferredReply](c)))
	}
}

// TestDeferredExpires_DEFER3: a deferred message expires at its deadline, not before; an unacked one expires when it is requeued;
// none is received after its deadline.
func TestDeferredExpires_DEFER3(t *testing.T) {
	c := newCore(t, dlx, timeout(100))
	c.publish(msg("1", 50), msg("2", 50), msg("3", 200), msg("4", -1))
	c.deferring(4)
	c.at(49)
	c.want("early", c.seenOff())
	c.receive(false, 2)
	c.at(50)
	c.want("at its deadline", c.seenOff(), "expired 1")
	c.at(148)
	c.want("held", c.seenOff())
	c.at(149)
	c.want("back", c.seenOff(), "expired 2")
	c.now += 51_000_000 // the timer is late
	c.want("late", received(c.receive(false, 3)))
	c.at(200)
	c.want("at its deadline", c.seenOff(), "expired 3")
	c.at(1_000_000)
	c.want("never", c.deferredBodies(), "4")
	n := newCore(t, func(s *policies.QueueSettings) { s.RetroactiveTTL = true }, dlx)
	n.put("1", "2")
	n.deferring(2)
	n.receive(false, 2)
	s := n.Settings
	s.MessageTTL = 70
	n.feed(&mail.Configure{Settings: s})
	n.at(69)
	n.want("early", n.seenOff())
	n.at(70)
	n.want("at its new deadline", n.seenOff(), "expired 1")
}

// TestDeferredEnds_DEFER4: a purge drops deferred messages, a delete with if-empty is refused because of them, the end of a lease
// is not, and a move does not claim them.
func TestDeferredEnds_DEFER4(t *testing.T) {
	request := mail.Request{ReplyTo: ch1}
	for _, most := range []uint16{1, 4096} {
		c := newCore(t, dlx)
		c.turnLimit = most
		c.put("1", "2", "3", "4")
		c.publish(msg("5", 10))
		c.get(ch1)
		c.deferring(2)
		c.feed(&mail.Claim{Request: request, Limit: 10})
		if n := len(one[*mail.ClaimReply](c).Messages); n != 2 {
			t.Errorf("%d were claimed", n)
		}
		c.feed(&mail.ChannelGone{Channel: ch1})
		c.deferring(1) // it was at the head
		c.feed(&mail.Purge{Request: request, Connection: owner})
		if n := one[*mail.PurgeReply](c).MessageCount; n != 5 || c.Backlog.Len() != 0 || c.Deferred.Len() != 0 {
			t.Errorf("%d were purged, %d are left", n, c.Backlog.Len())
		}
	}
	c := newCore(t, dlx)
	c.put("1")
	c.deferring(1)
	c.feed(&mail.DeleteQueue{Request: request, Connection: owner, IfEmpty: true})
	if one[*mail.DeleteQueueReply](c).Err == nil {
		t.Error("it was taken to be empty")
	}
	c.feed(&mail.DeleteQueue{Request: request, Connection: owner}, &mail.QueueForgotten{})
	if n := one[*mail.DeleteQueueReply](c).MessageCount; n != 1 {
		t.Errorf("%d were deleted", n)
	}
	c = newCore(t, dlx, expires(100), func(s *policies.QueueSettings) { s.ExpiresDeadLettersBacklog = true })
	c.put("1", "2")
	c.deferring(1)
	c.feed(&mail.ChannelGone{Channel: ch2})
	c.at(200)
	c.vhostAnswers()
	c.want("dead", c.seenOff(), "expired 2", "expired 1")
}

// TestDeferredOverdue_DEFER3: messages past their deadlines expire before a purge, or a delete with if-empty, for any
// number of them and any delay of the timer.
func TestDeferredOverdue_DEFER3(t *testing.T) {
	const n = 2*messages.TurnLimit + 10
	request := mail.Request{ReplyTo: ch1}
	for _, deferred := range []int{n, 0} {
		for _, end := range []any{
			&mail.Purge{Request: request, Connection: owner},
			&mail.DeleteQueue{Request: request, Connection: owner, IfEmpty: true},
		} {
			c := newCore(t, dlx)
			for range n {
				c.publish(msg("1", 50))
			}
			c.deferring(deferred)
			c.now += 51_000_000
			c.feed(end)
			for dead := 0; dead < n; {
				now := len(c.seenOff())
				if dead += now; now == 0 {
					t.Fatalf("%T, %d deferred: %d of %d expired", end, deferred, dead, n)
				}
			}
			if _, is := end.(*mail.Purge); !is {
				one[*mail.QueueRetiring](c)
			} else if r := one[*mail.PurgeReply](c); r.MessageCount != 0 {
				t.Errorf("%d deferred: %d were purged", deferred, r.MessageCount)
			}
		}
	}
}

// TestDeferredSurvives_DEFER5: durable messages are still deferred after a restart, with their deadlines, including
// unacked ones.
func TestDeferredSurvives_DEFER5(t *testing.T) {
	cfg := testConfig(settings(dlx))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	for i, ttl := range []int64{-1, 500, 5000, -1} {
		c.publish(persistentMsg(fmt.Sprint(1+i), ttl))
	}
	c.publish(message.Message{Header: []byte{0, 0}, Body: []byte("transient"), TTL: -1, Owned: true})
	c.deferring(3)
	c.deferring(0)
	c.receive(false, 3)
	cfg.Recovered = c.disk.survivors()
	again := newCoreOf(t, cfg)
	again.disk.puts, again.now = c.disk.puts, c.now
	again.want("deferred", again.deferredBodies(), "1", "2", "3")
	again.want("ready", again.ready(), "4")
	again.at(499)
	again.want("early", again.seenOff())
	again.at(500)
	again.want("at its deadline", again.seenOff(), "expired 2")
	again.want("received", received(again.receive(false, 1, 3)), "1 1", "3 3")
	again.settle(ch1, mail.Ack, 1, 2)
	if n := len(again.disk.survivors()); n != 1 {
		t.Errorf("%d are left in the journal", n)
	}
}

// receive requests deferred messages, and an unknown number.
func (m *model) receive() {
	seqs, want := map[string]uint64{}, []*entry(nil)
	m.Deferred.From(0, func(h uint32) bool {
		seqs[m.body(h)] = m.Backlog.Seq(h)
		return true
	})
	ask := &mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch1}, Channel: m.channel(), NoAck: m.r.IntN(4) == 0, Seqs: []uint64{1 << 40}}
	for _, e := range slices.Clone(m.away) {
		seq, there := seqs[e.body]
		if !there && !m.due(e) {
			m.fail("%s is not deferred", e.body)
		}
		if m.r.IntN(3) > 0 {
			continue
		}
		if ask.Seqs = append(ask.Seqs, seq); m.due(e) {
			continue // never after its deadline
		}
		want = append(want, e)
		m.away = slices.DeleteFunc(m.away, func(x *entry) bool { return x == e })
	}
	if len(seqs) > len(m.away)+len(want) {
		m.fail("%d are deferred", len(seqs))
	}
	m.feed(ask)
	got := one[*mail.ReceiveDeferredReply](m.core).Deliveries
	if len(got) != len(want) {
		m.fail("%d received, want %d", len(got), len(want))
	}
	for i, d := range got {
		if d.Facts == nil || d.Facts.Seq != seqs[want[i].body] {
			m.fail("%s has %+v", want[i].body, d.Facts)
		}
		m.took(want[i], &taker{channel: ask.Channel, noAck: ask.NoAck}, d)
	}
}

// deferredBodies returns the bodies of the deferred messages without a lock.
func (c *core) deferredBodies() (list []string) {
	c.Deferred.From(0, func(h uint32) bool {
		list = append(list, c.body(h))
		return true
	})
	return list
}
