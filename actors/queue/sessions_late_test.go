package queue

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// A purge before the queue has read its sessions keeps the states of sessions.
func TestPurgeBeforeItIsRead_SESSION5(t *testing.T) {
	cfg := sessionConfig()
	c := newCoreOf(t, cfg)
	c.granted(ch1, "a", "a")
	c.uses(mail.UseSession{ID: "a", Set: true, State: []byte("two")})
	c.sends("b 1")
	cfg.Recovered, cfg.Newest = c.disk.survivors(), c.Seq
	next := newCoreOf(t, cfg)
	next.disk, next.now, next.disk.late = c.disk, c.now, true
	next.feed(again{})
	next.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if n := one[*mail.PurgeReply](next).MessageCount; n != 1 {
		t.Errorf("%d purged", n)
	}
	next.disk.late = false
	next.arrive()
	next = next.restartedAs(cfg)
	if got := next.listed(mail.ListSessions{}); fmt.Sprint(got) != "[a]" {
		t.Errorf("left are %v", got)
	}
}

// A settlement of several channels' deliveries that takes several turns is answered once, and none of them is held afterwards.
func TestSettleLocked_LOCK7_SeveralChannels(t *testing.T) {
	c := newCore(t)
	for i := range 200 {
		c.publish(msg(fmt.Sprint(i), -1))
	}
	var locks []mail.Lock
	for _, ch := range []mail.Address{ch1, ch2} {
		c.feed(&mail.Consume{Request: mail.Request{ReplyTo: ch}, Channel: ch, Tag: "t", Connection: owner, Facts: true, Stays: true, Prefetch: 40})
		for _, it := range c.items() {
			locks = append(locks, mail.Lock{Seq: it.Facts.Seq, Lock: it.Facts.Lock})
		}
	}
	c.feed(&mail.SettleLocked{Request: mail.Request{ReplyTo: ch1}, Locks: locks, How: mail.Release, Outcome: &mail.Outcome{Properties: protocol.Table{{Key: "x", Value: "y"}}}})
	if len(locks) != 80 || !one[*mail.SettleLockedReply](c).Held {
		t.Fatalf("%d locks, or they are not settled", len(locks))
	}
	for _, l := range locks {
		c.feed(&mail.SettleLocked{Request: mail.Request{ReplyTo: ch1}, Locks: []mail.Lock{l}, How: mail.Ack})
		if one[*mail.SettleLockedReply](c).Held {
			t.Fatal("a delivery is held that was settled")
		}
	}
}

// A receiver that left while a deferred message of its session was held is not notified when the lock ends, because another one
// may use its tag.
func TestSessionLock_SESSION4_TagsComeAgain(t *testing.T) {
	c := newSessions(t)
	c.sends("a 1", "b 2")
	c.granted(ch1, "1", "a")
	all[*mail.Deliver](c)
	c.settle(ch1, mail.Defer, 1, 1)
	a := "a"
	c.feed(&mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Connection: owner, Seqs: []uint64{1}, Session: &a})
	if got := received(one[*mail.ReceiveDeferredReply](c)); len(got) != 1 {
		t.Fatal("nothing received")
	}
	c.cancel(ch1, "1")
	c.at(500)
	c.granted(ch1, "1", "b")
	c.at(1000)
	if cancelled := all[*mail.ConsumerCancelled](c); len(cancelled) != 0 {
		t.Errorf("%+v", *cancelled[0])
	}
}

// A connection may have a limited number of waiting receivers, which leaves room for others; the total is limited, too.
// (SESSION-3)
func TestWaiting_SESSION3_Fair(t *testing.T) {
	c := newSessions(t)
	waits := func(connection int, tag string) bool {
		c.feed(&mail.Consume{
			Request: mail.Request{ReplyTo: ch2}, Channel: ch2, Tag: tag, Connection: address.Named(fmt.Sprint("connection/", connection)), Facts: true, Stays: true,
			Session: &mail.SessionRequest{Next: true, Wait: 1 << 40},
		})
		replies := all[*mail.ConsumeReply](c)
		if len(replies) > 0 && !errors.Is(replies[0].Err, mail.ErrSessionsFull) {
			t.Fatalf("%+v", replies[0])
		}
		return len(replies) == 0
	}
	n := 0
	for connection := range 20 {
		for i := range 2 * sessions.MaxOfOne {
			if waits(connection, fmt.Sprint(connection, "/", i)) {
				n++
			}
		}
		if want := min((connection+1)*sessions.MaxOfOne, sessions.MaxWaiting); n != want {
			t.Fatalf("%d wait of %d connections, want %d", n, connection+1, want)
		}
	}
	c.cancel(ch2, "0/7")
	all[*mail.ConsumeReply](c)
	if waits(1, "one more") || !waits(12, "the first") || waits(0, "again") {
		t.Error("a place that is free again is not for who has fewer than others")
	}
}

// Only the connection that holds a session may settle its messages, even if another one knows the lock. The holder is notified.
func TestSettleLocked_LOCK7_OthersSession(t *testing.T) {
	c := newSessions(t)
	c.sends("a 1")
	c.granted(ch1, "1", "a")
	f := all[*mail.Deliver](c)[0].Items[0].Facts
	for _, by := range []mail.Address{nil, ch2, owner} {
		c.feed(&mail.SettleLocked{Request: mail.Request{ReplyTo: ch2}, Connection: by, Locks: []mail.Lock{{Seq: f.Seq, Lock: f.Lock}}, How: mail.Ack})
		if held := one[*mail.SettleLockedReply](c).Held; held != (by == owner) {
			t.Errorf("by %v: %v", by, held)
		}
	}
	if returned := all[*mail.DeliveriesRequeued](c); len(returned) != 1 || !returned[0].Settled {
		t.Errorf("%+v", returned)
	}
}

// A session lock that has ended settles nothing, even if its timer is late.
func TestSettleLocked_LOCK7_LateTimer(t *testing.T) {
	c := newSessions(t)
	c.sends("a 1")
	c.granted(ch1, "1", "a")
	f := all[*mail.Deliver](c)[0].Items[0].Facts
	c.now += 2_000_000_000
	c.feed(&mail.SettleLocked{Request: mail.Request{ReplyTo: ch1}, Connection: owner, Locks: []mail.Lock{{Seq: f.Seq, Lock: f.Lock}}, How: mail.Ack})
	if one[*mail.SettleLockedReply](c).Held {
		t.Errorf("locked until %d, settled at %d", f.Locked, c.now.Floor())
	}
}

// A drain is answered after the messages read for it are delivered.
func TestDrain_SESSION2_PagedOut(t *testing.T) {
	cfg := sessionConfig()
	c := newCoreOf(t, cfg)
	c.sends("a 1", "a 2")
	c = c.restartedAs(cfg)
	c.disk.late = true
	c.feed(&mail.Consume{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Tag: "1", Connection: owner, Facts: true, Stays: true, Credited: true, Session: &mail.SessionRequest{ID: "a"}})
	one[*mail.ConsumeReply](c)
	c.feed(&mail.SetLinkCredit{Channel: ch1, Tag: "1", Credit: 10, Drain: true})
	if n := len(all[*mail.CreditTaken](c)); n != 0 {
		t.Errorf("%d drained with %d messages ready", n, c.Backlog.Ready())
	}
	c.disk.late = false
	c.arrive()
	got := len(c.items())
	if drained := all[*mail.CreditTaken](c); got != 2 || len(drained) != 1 {
		t.Errorf("%d delivered, %d drained", got, len(drained))
	}
}

// TestSessionList_SESSION8_Turns: a turn examines a limited number of sessions.
func TestSessionList_SESSION8_Turns(t *testing.T) {
	c := newSessions(t)
	var batch []message.Message
	for n := range many {
		batch = append(batch, ofSession(fmt.Sprint(n), ""))
	}
	c.publish(batch...)
	all[*mail.EnqueueReply](c)
	turns := c.inTurns(&mail.ListSessions{Request: mail.Request{ReplyTo: ch1}, Skip: many - 3})
	if got := one[*mail.SessionList](c).IDs; turns < many/workLimit || fmt.Sprint(got) != fmt.Sprint([]int{many - 3, many - 2, many - 1}) {
		t.Errorf("%d turns: %q", turns, got)
	}
}
