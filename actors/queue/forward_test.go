package queue

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

func forwardTo(s *policies.QueueSettings) { s.ForwardTo, s.HasForward = "to", true }

// moved takes the messages sent to be forwarded as "body TTL", -1 for none.
func (c *core) moved() (bodies []string, ids []uint64) {
	c.t.Helper()
	for _, l := range all[*mail.DeadLetter](c) {
		if !l.Forward || l.Reason != "forwarded" || l.Exchange != "to" || l.HasKey || l.Guarantee != mail.AtLeastOnce {
			c.t.Fatalf("%+v", l)
		}
		for _, d := range l.Messages {
			bodies, ids = append(bodies, fmt.Sprintf("%s %d", d.Body, d.TTL)), append(ids, d.Number)
		}
	}
	return bodies, ids
}

// TestForward: messages are forwarded in order, even if there are consumers and gets, and are removed when they have arrived
// elsewhere.
func TestForward(t *testing.T) {
	c := durableCore(t, forwardTo)
	c.consume(ch1, "a", 10)
	c.consume(ch1, "b", 0, noAck)
	c.consume(ch2, "c", 10, limited)
	m := msg("c", 70)
	setPersistent(&m, true)
	m.Exchange, m.Overlay = []byte("orig"), &message.Overlay{CC: []string{"cc"}, Hops: 3}
	c.publish(msg("a", -1), msg("b", 0), m)
	if acks, _ := c.confirmed(); len(acks) != 3 {
		t.Errorf("acks %v", acks)
	}
	for _, l := range all[*mail.DeadLetter](c) {
		d := l.Messages[len(l.Messages)-1]
		if string(d.Exchange) != "orig" || string(d.RoutingKey) != "k" || d.Overlay != m.Overlay || !d.Persistent() {
			t.Errorf("%+v", d)
		}
		c.posts = append(c.posts, mail.Post{To: deadLetterPID, Mail: l})
	}
	bodies, ids := c.moved()
	c.want("moved", bodies, "a -1", "b 0", "c 70")
	if !c.get(ch1).Empty || len(c.delivered("a"))+len(c.delivered("b"))+len(c.delivered("c")) > 0 || len(all[*mail.QosOffer](c)) > 0 {
		t.Error("somebody else got something")
	}
	c.at(1000)
	c.takenCareOf(ids...)
	if c.Backlog.Len() != 0 || c.DeadLetters.Counts().Forwarding != 0 || c.DeadLetters.Counts().ForwardingBytes != 0 || c.DeadLetters.Counts().Bytes != 0 {
		t.Errorf("%d left, %d moving, %d bytes", c.Backlog.Len(), c.DeadLetters.Counts().Forwarding, c.DeadLetters.Counts().ForwardingBytes)
	}
	if why := c.records[len(c.records)-1].Why; why != store.Forwarded {
		t.Errorf("written down as %v", why)
	}
}

// TestForwardBacklog_POL9: the policy forwards the backlog, a limited number at a time; waiting messages expire as usual. When
// the policy is removed, the rest goes to waiting consumers.
func TestForwardBacklog_POL9(t *testing.T) {
	c := newCore(t, dlx)
	batch := make([]message.Message, deadletters.ForwardLimit+5)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	batch[deadletters.ForwardLimit] = msg("expires", 50)
	c.publish(batch...)
	c.feed(&mail.Configure{Settings: settings(dlx, forwardTo)})
	bodies, ids := c.moved()
	if len(bodies) != deadletters.ForwardLimit || c.Backlog.Ready() != 5 {
		t.Fatalf("%d moved, %d ready", len(bodies), c.Backlog.Ready())
	}
	c.consume(ch1, "a", 3)
	c.put("behind")
	c.at(50)
	c.want("expired", c.seenOff(), "expired expires")
	c.takenCareOf(ids[:2]...)
	if bodies, _ = c.moved(); len(bodies) != 2 {
		t.Errorf("%d moved when there is room for 2", len(bodies))
	}
	c.keep(ids[2:4]...)
	c.feed(&mail.Configure{Settings: settings(dlx)})
	c.want("for the consumer", c.delivered("a"), "m", "m", "m")
	c.takenCareOf(ids[4:]...)
	if ready := c.ready(); len(ready) != 2 || ready[1] != "behind" || c.DeadLetters.Counts().Forwarding != 2 {
		t.Errorf("%q are ready, %d moving", ready, c.DeadLetters.Counts().Forwarding)
	}
}

// TestForwardTTL_TTL17: the deadline is kept; a message that waits for its destination beyond the deadline expires, and never
// arrives late.
func TestForwardTTL_TTL17(t *testing.T) {
	c := newCore(t, ttl(100), dlx)
	c.publish(msg("a", 60), msg("b", -1))
	c.at(40)
	c.feed(&mail.Configure{Settings: settings(ttl(100), dlx, forwardTo)})
	bodies, ids := c.moved()
	c.want("remaining", bodies, "a 20", "b 60")
	c.keep(ids...)
	c.at(1039)
	c.want("waits for the next attempt", c.seenOff())
	c.at(1040)
	c.want("too late", c.seenOff(), "expired a", "expired b")
	c.publish(msg("c", 0)) // forwarded at once, and retained
	_, ids = c.moved()
	c.keep(ids...)
	c.at(3040)
	c.want("now or never", c.seenOff(), "expired c")
}

// TestForwardIsNotEmpty_DEC6: messages that have not arrived elsewhere count for declares and for a delete with if-empty.
func TestForwardIsNotEmpty_DEC6(t *testing.T) {
	c := newCore(t, forwardTo)
	c.put("m")
	_, ids := c.moved()
	c.keep(ids...)
	ask := mail.Request{ReplyTo: ch1}
	c.feed(&mail.DeclareQueue{Request: ask, Name: "q", Passive: true}, &mail.DeleteQueue{Request: ask, IfEmpty: true})
	if r := one[*mail.DeclareQueueReply](c); r.MessageCount != 1 {
		t.Errorf("declare-ok has a message count of %d", r.MessageCount)
	}
	if r := one[*mail.DeleteQueueReply](c); r.Err == nil || c.phase != live {
		t.Error("deleted although it was not empty")
	}
}

// TestForwardRetries: a message is sent again until all destinations have it, and not to destinations that have it
// already.
func TestForwardRetries(t *testing.T) {
	c := newCore(t, forwardTo)
	c.put("m")
	for i, at := range []int64{1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000} {
		_, ids := c.moved()
		if len(ids) != 1 {
			t.Fatalf("attempt %d: %d sent", i, len(ids))
		}
		c.feed(&mail.DeadLetterReply{Incarnation: 7, Retained: []mail.Retained{{ID: ids[0], Taken: []mail.Target{{Actor: ch2.GetId()}}}}})
		c.at(at - 1)
		if bodies, _ := c.moved(); len(bodies) > 0 {
			t.Fatalf("attempt %d: early", i)
		}
		c.at(at)
	}
	l := one[*mail.DeadLetter](c)
	if len(l.Taken[l.Messages[0].Number]) != 1 {
		t.Error("it is sent to who has it")
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true})
	if bodies, ids := c.moved(); len(bodies) != 1 {
		t.Error("not sent again when the dead-letter actor has failed")
	} else {
		c.takenCareOf(ids...)
	}
	if c.Backlog.Len() != 0 {
		t.Errorf("%d left", c.Backlog.Len())
	}
}

// TestForwardHops_DL9: at the fifth hop a message is dead-lettered or dropped.
func TestForwardHops_DL9(t *testing.T) {
	for hops, want := range map[uint8]string{0: "forwarded m", 3: "forwarded m", 4: "hops m", 5: "hops m"} {
		c := newCore(t, forwardTo, dlx)
		m := msg("m", -1)
		m.Overlay = &message.Overlay{Hops: hops}
		c.publish(m)
		c.want(fmt.Sprint(hops, " hops"), c.seenOff(), want)
	}
	c := newCore(t, forwardTo)
	m := msg("m", -1)
	m.Overlay = &message.Overlay{Hops: 4}
	c.publish(m)
	if dead := c.seenOff(); len(dead) > 0 || c.Backlog.Len() != 0 {
		t.Errorf("%v, %d left", dead, c.Backlog.Len())
	}
}

// TestForward_LEASE4: a queue that forwards is in use, like one with a consumer.
func TestForward_LEASE4(t *testing.T) {
	c := newCore(t, expires(100), forwardTo)
	c.at(1000)
	c.feed(&mail.Configure{Settings: settings(expires(100))})
	c.at(1099)
	if c.phase != live {
		t.Fatal("its lease ended")
	}
	c.at(1100)
	if c.phase == live {
		t.Fatal("its lease goes on")
	}
}

// TestForward_DL12: messages that have not arrived elsewhere count towards the limits.
func TestForward_DL12(t *testing.T) {
	c := newCore(t, forwardTo, dlx, maxLength(2, "drop-head"))
	c.put("a", "b", "c")
	var bodies []string
	for _, l := range all[*mail.DeadLetter](c) {
		for _, d := range l.Messages {
			bodies = append(bodies, l.Reason+" "+string(d.Body))
		}
	}
	c.want("sent", bodies, "forwarded a", "forwarded b", "maxlen c")
	c = newCore(t, forwardTo, maxLength(2, "reject-publish"))
	c.put("a", "b", "c")
	if _, nacks := c.confirmed(); !slices.Equal(nacks, []uint64{3}) {
		t.Errorf("nacks %v", nacks)
	}
}

// TestForwardEnds_LEASE7: messages that have not arrived are discarded with a deleted queue, which does not wait for them.
func TestForwardEnds_LEASE7(t *testing.T) {
	c := newCore(t, forwardTo)
	c.put("a", "b")
	_, ids := c.moved()
	c.feed(redeclare(passive), &mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}, IfEmpty: true})
	if r := one[*mail.DeclareQueueReply](c); r.MessageCount != 2 || code(one[*mail.DeleteQueueReply](c).Err) == "" {
		t.Errorf("%d messages, or it is deleted with them", r.MessageCount)
	}
	c.keep(ids[0])
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
	if c.phase != retiring || len(all[*mail.DeadLetter](c)) > 0 {
		t.Errorf("phase %d", c.phase)
	}
	c.takenCareOf(ids[1:]...)
	c.vhostAnswers()
	if r := one[*mail.DeleteQueueReply](c); c.phase != ended || r.MessageCount != 1 {
		t.Error("it does not end")
	}
}

// TestForwardRecovered_TTL26: after a restart forwarding continues; messages under way are sent again, without being marked as
// redelivered.
func TestForwardRecovered_TTL26(t *testing.T) {
	c := recovered(t, settings(forwardTo, dlx), true,
		store.Recovered{Time: start - 100, Deadline: store.Never, TTL: -1}, store.Recovered{Time: start - 100, Deadline: start - 50, TTL: 50},
		store.Recovered{Time: start - 100, Deadline: start + 50, TTL: 150})
	if bodies, _ := c.moved(); len(bodies) > 0 {
		t.Errorf("recovering: %q", bodies)
	}
	c.feed(&mail.Activate{Request: mail.Request{ReplyTo: vhostPID}})
	var sent []string
	for _, l := range all[*mail.DeadLetter](c) {
		for _, d := range l.Messages {
			sent = append(sent, fmt.Sprintf("%s %s %d", l.Reason, d.Body, d.TTL))
		}
	}
	slices.Sort(sent)
	c.want("sent", sent, "expired b 50", "forwarded a -1", "forwarded c 50")
}
