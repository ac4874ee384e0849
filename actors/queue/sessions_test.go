package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/protocol"
)

// sessionConfig returns the configuration of a durable queue with sessions, which are locked for 1000 ms.
func sessionConfig(change ...func(*policies.QueueSettings)) Config {
	cfg := testConfig(settings(append(change, timeout(1000))...))
	cfg.Queue.Durable = true
	args := protocol.Table{{Key: "x-queue-type", Value: "quorum"}, {Key: sessions.Argument, Value: true}}
	cfg.Queue.Arguments = policies.WithQueueType(args, true, false, false, "")
	return cfg
}

func newSessions(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	return newCoreOf(t, sessionConfig(change...))
}

// ofSession returns a persistent message of a session.
func ofSession(session, body string) message.Message {
	m := msg(body, message.NoTTL)
	m.Header = protocol.Properties{Flags: protocol.FlagAppID, AppID: session}.Append(nil)
	setPersistent(&m, true)
	return m
}

// sends publishes messages given as "session body".
func (c *core) sends(all ...string) {
	for _, s := range all {
		session, body, _ := strings.Cut(s, " ")
		c.publish(ofSession(session, body))
	}
}

// wants has a consumer of ch request a session, or with "*" the next one within wait ms; it returns nil without an answer.
func (c *core) wants(ch mail.Address, tag, session string, wait int64) *mail.ConsumeReply {
	c.t.Helper()
	c.applies(ch, tag, session, wait)
	if all := all[*mail.ConsumeReply](c); len(all) > 0 {
		return all[0]
	}
	return nil
}

// applies is wants, but leaves the answer among the posts.
func (c *core) applies(ch mail.Address, tag, session string, wait int64) {
	want := &mail.SessionRequest{ID: session, Wait: wait}
	if session == "*" {
		want = &mail.SessionRequest{Next: true, Wait: wait}
	}
	c.feed(&mail.Consume{
		Request: mail.Request{ReplyTo: ch}, Channel: ch, Tag: tag, Connection: owner, Facts: true, Stays: true, Session: want,
	})
}

// granted is wants for a session that must be granted.
func (c *core) granted(ch mail.Address, tag, session string) string {
	c.t.Helper()
	r := c.wants(ch, tag, session, 0)
	if r == nil || r.Err != nil || r.Session.Until != c.now.Ceil()+1000 {
		c.t.Fatalf("%+v", r)
	}
	return r.Session.ID
}

func (c *core) cancel(ch mail.Address, tag string) {
	c.feed(&mail.CancelConsumer{Request: mail.Request{ReplyTo: ch}, Channel: ch, Tag: tag})
	one[*mail.CancelConsumerReply](c)
}

func (c *core) uses(m mail.UseSession) *mail.UseSessionReply {
	c.t.Helper()
	m.ReplyTo = ch1
	if m.Connection == nil {
		m.Connection = owner
	}
	c.feed(&m)
	return one[*mail.UseSessionReply](c)
}

func (c *core) listed(m mail.ListSessions) []string {
	m.ReplyTo = ch1
	c.feed(&m)
	return one[*mail.SessionList](c).IDs
}

// restartedAs returns the queue after a restart with a configuration.
func (c *core) restartedAs(cfg Config) *core {
	cfg.Recovered, cfg.Newest = c.disk.survivors(), c.Seq
	next := newCoreOf(c.t, cfg)
	next.disk, next.now, next.number = c.disk, c.now, c.number
	next.feed(again{})
	return next
}

// TestSessionNeeded_SESSION1: a message without a session id, or with a too long one, is refused with the reason; an
// empty id is valid.
func TestSessionNeeded_SESSION1(t *testing.T) {
	c := newSessions(t)
	c.publish(msg("none", message.NoTTL), ofSession("", "empty"), ofSession(strings.Repeat("x", 128), "longest"), ofSession(strings.Repeat("x", 129), "longer"))
	var nacks, acks []uint64
	for _, r := range all[*mail.EnqueueReply](c) {
		for _, x := range r.Ranges {
			if !r.Refused {
				acks = append(acks, x.First)
			} else if nacks = append(nacks, x.First); !errors.Is(r.Why, mail.ErrSessionNeeded) {
				t.Error(r.Why)
			}
		}
	}
	if !slices.Equal(nacks, []uint64{1, 4}) || !slices.Equal(acks, []uint64{2}) {
		t.Errorf("%v, %v", acks, nacks)
	}
	c.want("ready", c.ready(), "empty", "longest")
	plain := newCore(t)
	plain.publish(msg("none", message.NoTTL))
	plain.want("without sessions", plain.ready(), "none")
}

// TestSessionOrder_SESSION2: each receiver gets its session's messages in order, concurrently with others, and requeued messages
// come before undelivered ones.
func TestSessionOrder_SESSION2(t *testing.T) {
	c := newSessions(t)
	c.sends("a 1", "b 2", "a 3", "c 4", "b 5")
	c.granted(ch1, "a", "a")
	c.want("a", c.delivered("a"), "1", "3")
	c.granted(ch2, "b", "b")
	c.want("b", c.delivered("b"), "2", "5")
	c.sends("b 6", "a 7", "c 8")
	c.want("a", c.delivered("a"), "7")
	c.want("b", c.delivered("b"), "6")
	c.want("left", c.ready(), "4", "8")
	c.settle(ch1, mail.Requeue, 2, 2)
	c.want("given back", c.delivered("a"), "3*")
	c.cancel(ch1, "a")
	c.sends("a 9")
	c.settle(ch1, mail.Release, 3, 4)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.granted(ch2, "again", "a")
	c.want("the next one", c.delivered("again"), "1*", "3*", "7*", "9")
}

// TestConsumers_SESSION2: a receiver without a session is refused, and so is one with a session on a queue without sessions.
func TestConsumers_SESSION2(t *testing.T) {
	c := newSessions(t)
	if r := c.consume(ch1, "a", 0); !errors.Is(r.Err, mail.ErrSessionNeeded) || !errors.As(r.Err, new(*protocol.ChannelError)) {
		t.Error(r.Err)
	}
	if r := c.get(ch1); !errors.Is(r.Err, mail.ErrSessionNeeded) {
		t.Error(r.Err)
	}
	if r := newCore(t).wants(ch1, "a", "s", 0); !errors.Is(r.Err, mail.ErrNoSessions) {
		t.Error(r.Err)
	}
	if r := c.wants(ch1, "a", strings.Repeat("x", 129), 0); !errors.Is(r.Err, mail.ErrSessionID) {
		t.Error(r.Err)
	}
}

// TestNextSession_SESSION3: the next session is the one that has been free with messages for longest; without one, receivers wait
// in order, for at most their requested time and a maximum. Their number is limited, and a waiting one holds the lease.
func TestNextSession_SESSION3(t *testing.T) {
	c := newSessions(t, expires(100))
	c.sends("a 1", "b 2", "a 3")
	if a, b := c.granted(ch1, "1", "*"), c.granted(ch1, "2", "*"); a != "a" || b != "b" {
		t.Errorf("%s, %s", a, b)
	}
	if r := c.wants(ch2, "taken", "a", 500); !errors.Is(r.Err, mail.ErrSessionTaken) {
		t.Error(r.Err)
	}
	for _, tag := range []string{"w1", "w2", "w3", "w4"} {
		if r := c.wants(ch2, tag, "*", 500); r != nil {
			t.Fatalf("%+v", r)
		}
	}
	c.cancel(ch2, "w2")
	if r := one[*mail.ConsumeReply](c); r.Tag != "w2" || !errors.Is(r.Err, mail.ErrNoSession) {
		t.Errorf("%+v", r)
	}
	c.at(400)
	c.sends("c 4")
	if r := one[*mail.ConsumeReply](c); r.Tag != "w1" || r.Session.ID != "c" {
		t.Errorf("%+v", r)
	}
	c.cancel(ch1, "1")
	c.feed(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: 1, Last: 2, How: mail.Requeue}}})
	if r := one[*mail.ConsumeReply](c); r.Tag != "w3" || r.Session.ID != "a" {
		t.Errorf("%+v", r)
	}
	c.at(499)
	if r := all[*mail.ConsumeReply](c); len(r) > 0 {
		t.Errorf("early: %+v", r)
	}
	c.at(500)
	if r := one[*mail.ConsumeReply](c); r.Tag != "w4" || !errors.Is(r.Err, mail.ErrNoSession) {
		t.Errorf("%+v", r)
	}
	for i := range sessions.MaxWaiting {
		c.wants(ch2, fmt.Sprint("m", i), "*", 1<<40)
	}
	if r := c.wants(ch2, "one more", "*", 1); !errors.Is(r.Err, mail.ErrSessionsFull) {
		t.Errorf("%+v", r)
	}
	all[*mail.ConsumeReply](c)
	c.feed(&mail.ChannelGone{Channel: ch1}, &mail.ChannelGone{Channel: ch2})
	if c.Sessions.Locked() != 0 {
		t.Error("locked by nobody")
	}
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	all[*mail.ConsumeReply](c)
	c.wants(ch2, "long", "*", 1<<40)
	c.at(500 + sessions.MaxWait)
	if r := one[*mail.ConsumeReply](c); !errors.Is(r.Err, mail.ErrNoSession) || len(all[*mail.QueueRetiring](c)) > 0 {
		t.Errorf("%+v", r)
	}
	if c.at(700 + sessions.MaxWait); len(all[*mail.QueueRetiring](c)) != 1 {
		t.Error("nobody waits, and the lease goes on")
	}
}

// TestSessionLock_SESSION4: a lock ends at its time, not before; its holder's deliveries are requeued and counted, then the next
// receiver gets the session; a renewal restarts its time.
func TestSessionLock_SESSION4(t *testing.T) {
	c := newSessions(t, func(s *policies.QueueSettings) { s.DeliveryLimit = 1 }, dlx)
	c.sends("a 1", "a 2")
	c.granted(ch1, "1", "a")
	c.wants(ch2, "2", "*", 10_000)
	if d := all[*mail.Deliver](c)[0]; d.Items[0].Facts.Locked != start+1000 {
		t.Error(d.Items[0].Facts)
	}
	c.at(900)
	if r := c.uses(mail.UseSession{ID: "a", Renew: true}); r.Err != nil || r.Until != start+1900 {
		t.Errorf("%+v", r)
	}
	if r := c.uses(mail.UseSession{ID: "a", Renew: true, Connection: other}); !errors.Is(r.Err, mail.ErrSessionLost) {
		t.Errorf("%+v", r)
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.at(1899)
	if len(all[*mail.ConsumerCancelled](c))+len(all[*mail.DeliveriesRequeued](c)) > 0 {
		t.Fatal("early")
	}
	c.now += 1_000_000 // even if the timer is late, the holder gets no more messages
	c.sends("a 3")
	c.want("late", c.delivered("1"))
	if r := c.uses(mail.UseSession{ID: "a", Renew: true}); !errors.Is(r.Err, mail.ErrSessionLost) {
		t.Errorf("%+v", r)
	}
	c.at(1900)
	if gone := one[*mail.ConsumerCancelled](c); gone.Tag != "1" || !gone.Lost {
		t.Errorf("%+v", gone)
	}
	if back := one[*mail.DeliveriesRequeued](c); !back.Covers(2) || back.Covers(1) {
		t.Errorf("%+v", back)
	}
	if r := one[*mail.ConsumeReply](c); r.Tag != "2" || r.Session.ID != "a" || r.Session.Until != start+2900 {
		t.Errorf("%+v", r)
	}
	c.want("the next one", c.delivered("2"), "2*", "3")
	c.at(2900)
	c.want("counted twice", c.seenOff(), "delivery_limit 2")
	c.settle(ch1, mail.Ack, 2, 2)
	c.want("ready", c.ready(), "3")
}

// TestManyLocks_SESSION4: messages requeued in many turns are in order, and no receiver gets the session before the
// last turn.
func TestManyLocks_SESSION4(t *testing.T) {
	c := newSessions(t)
	c.turnLimit = 7
	var want []string
	for i := range 50 {
		c.sends(fmt.Sprint("a ", i), fmt.Sprint("b ", i))
		want = append(want, fmt.Sprint(i, "*"))
	}
	c.granted(ch1, "a", "a")
	c.granted(ch2, "b", "b")
	c.delivered("a")
	c.delivered("b")
	c.wants(ch2, "c", "*", 5000)
	c.at(1000)
	c.want("behind it", c.delivered("c"), want...)
}

// TestSessionState_SESSION5: a state set by one receiver is available to the next, is limited, and is in the journal before it is
// confirmed.
func TestSessionState_SESSION5(t *testing.T) {
	cfg := sessionConfig()
	c := newCoreOf(t, cfg)
	set := func(id string, n int) error {
		return c.uses(mail.UseSession{ID: id, Set: true, State: []byte(strings.Repeat("x", n))}).Err
	}
	if err := set("a", 1); !errors.Is(err, mail.ErrSessionLost) {
		t.Error(err)
	}
	c.granted(ch1, "a", "a")
	if err := set("a", sessions.MaxState+1); !errors.Is(err, mail.ErrSessionState) {
		t.Error(err)
	}
	c.hold = true
	c.feed(&mail.UseSession{Request: mail.Request{ReplyTo: ch1}, ID: "a", Connection: owner, Set: true, State: []byte("one")})
	if len(all[*mail.UseSessionReply](c)) > 0 {
		t.Error("answered before it is stored")
	}
	c.settleCommit()
	one[*mail.UseSessionReply](c)
	c.hold = false
	c.uses(mail.UseSession{ID: "a", Set: true, State: []byte("two")})
	if r := c.uses(mail.UseSession{ID: "a"}); string(r.State) != "two" {
		t.Errorf("%+v", r)
	}
	c.sends("b 1")
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	c = c.restartedAs(cfg)
	if got := c.listed(mail.ListSessions{}); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
	c.granted(ch1, "a", "a")
	if r := c.uses(mail.UseSession{ID: "a"}); string(r.State) != "two" {
		t.Errorf("%+v", r)
	}
	c.uses(mail.UseSession{ID: "a", Set: true})
	c.cancel(ch1, "a")
	if c.Sessions.Len() != 0 || len(c.disk.survivors()) != 0 {
		t.Errorf("%d sessions, records %+v", c.Sessions.Len(), c.disk.survivors())
	}
}

// TestDeferred_SESSION6: only the holder of a session receives its deferred messages; they are locked as long as the session.
func TestDeferred_SESSION6(t *testing.T) {
	c := newSessions(t)
	c.sends("a 1", "b 2", "a 3", "a 4")
	c.granted(ch1, "a", "a")
	c.settle(ch1, mail.Defer, 1, 2)
	c.granted(ch1, "b", "b")
	c.settle(ch1, mail.Defer, 4, 4)
	receive := func(session string, connection mail.Address) *mail.ReceiveDeferredReply {
		c.feed(&mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch2}, Channel: ch2, Connection: connection, Seqs: []uint64{1, 2, 3}, Session: &session})
		return one[*mail.ReceiveDeferredReply](c)
	}
	if r := receive("c", owner); !errors.Is(r.Err, mail.ErrSessionLost) {
		t.Error(r.Err)
	}
	if r := receive("a", other); !errors.Is(r.Err, mail.ErrSessionLost) {
		t.Error(r.Err)
	}
	r := receive("a", owner)
	c.want("a", received(r), "1 1*", "3 3*")
	if r.Deliveries[0].Facts.Locked != start+1000 {
		t.Error(r.Deliveries[0].Facts)
	}
	c.settle(ch2, mail.Ack, 1, 1)
	a := "a"
	if got := c.peek(mail.Peek{Cut: -1, ByNumber: true, Session: &a}).Messages; len(got) != 2 || got[0].Seq != 3 || got[1].Seq != 4 {
		t.Errorf("%+v", got)
	}
	c.at(1000)
	c.wants(ch1, "again", "a", 0)
	all[*mail.Deliver](c)
	c.want("back, and deferred", received(receive("a", owner)), "3 3*")
}

// TestReceivedByNumber_SESSION4: when a receiver leaves, its session is free at once, also if another channel has received messages for it by their
// numbers: they are deferred again.
func TestReceivedByNumber_SESSION4(t *testing.T) {
	c := newSessions(t)
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprint("a ", i))
	}
	c.turnLimit = 3
	c.sends(all...)
	c.granted(ch1, "a", "a")
	c.settle(ch1, mail.Defer, 1, 20)
	id, seqs := "a", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	receive := func() *mail.ReceiveDeferredReply {
		c.feed(&mail.ReceiveDeferred{Request: mail.Request{ReplyTo: ch2}, Channel: ch2, Connection: owner, Seqs: seqs, Session: &id})
		return one[*mail.ReceiveDeferredReply](c)
	}
	if r := receive(); len(r.Deliveries) != 10 || r.Deliveries[0].Facts.DeliveryCount != 1 {
		t.Fatalf("%+v", r.Deliveries)
	}
	c.cancel(ch1, "a")
	if r := c.wants(ch1, "b", "a", 0); r.Err != nil {
		t.Fatal(r.Err)
	}
	all2 := receive()
	if len(all2.Deliveries) != 10 || all2.Deliveries[0].Facts.DeliveryCount != 2 {
		t.Errorf("%+v", all2)
	}
}

// TestSessionsSurvive_SESSION7: after a restart messages keep their positions in their sessions, including scheduled and expiring
// ones; no session can be locked before all are read.
func TestSessionsSurvive_SESSION7(t *testing.T) {
	cfg := sessionConfig(func(s *policies.QueueSettings) { s.DelayedMessages = true })
	c := newCoreOf(t, cfg)
	var want []string
	for i := range 700 {
		c.sends(fmt.Sprint("a ", i), fmt.Sprint("b ", i))
		want = append(want, fmt.Sprint(i))
	}
	late := ofSession("a", "late")
	late.Header = protocol.Properties{
		Flags: protocol.FlagAppID | protocol.FlagHeaders, AppID: "a", Headers: protocol.Table{{Key: "x-delay", Value: int64(500)}},
	}.Append(nil)
	short := ofSession("a", "short")
	short.TTL = 100
	c.publish(late, short)
	cfg.Recovered, cfg.Newest = c.disk.survivors(), c.Seq
	next := newCoreOf(t, cfg)
	next.disk, next.now, next.disk.late = c.disk, c.now, true
	c = next
	c.feed(again{})
	if r := c.wants(ch1, "a", "a", 10_000); r != nil {
		t.Fatalf("%+v", r)
	}
	c.disk.late = false
	c.arrive()
	if r := one[*mail.ConsumeReply](c); r.Err != nil || r.Session.ID != "a" {
		t.Fatalf("%+v", r)
	}
	c.at(100)
	c.at(500)
	got := c.delivered("a")
	if i := slices.Index(got, "short"); i >= 0 {
		got = slices.Delete(got, i, i+1)
	}
	c.want("a", got, append(want, "late")...)
	c.granted(ch2, "b", "b")
	c.want("b", c.delivered("b"), want...)
}

// TestSessionList_SESSION8: sessions with messages or a state are listed in order of arrival, by pages, or by the time of their
// states.
func TestSessionList_SESSION8(t *testing.T) {
	c := newSessions(t)
	c.sends("b 1", "a 2", "b 3", "c 4")
	c.granted(ch1, "d", "d")
	c.want("all", c.listed(mail.ListSessions{}), "b", "a", "c")
	c.want("a page", c.listed(mail.ListSessions{Skip: 1, Limit: 1}), "a")
	c.at(10)
	c.uses(mail.UseSession{ID: "d", Set: true, State: []byte{}})
	c.want("with a state", c.listed(mail.ListSessions{Since: start + 10}), "d")
	c.want("later", c.listed(mail.ListSessions{Since: start + 11}))
	if c.describe1().Sessions != 4 {
		t.Error("miscounted")
	}
}
