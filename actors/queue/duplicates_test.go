package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/protocol"
)

func window(ms int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.DuplicateWindow = ms }
}

// named returns a message with that message-id, "" for none.
func named(body, id string, persistent bool) message.Message {
	m := msg(body, message.NoTTL)
	if id != "" {
		m.Header = protocol.Properties{Flags: protocol.FlagMessageID, MessageID: id}.Append(nil)
	}
	setPersistent(&m, persistent)
	return m
}

// TestDuplicates_DUP1: an id is not accepted again within the window, whose end is exact; messages without an id are always
// accepted.
func TestDuplicates_DUP1(t *testing.T) {
	c := newCore(t, window(1000), maxLength(5, "reject-publish"))
	c.publish(named("1", "a", false), named("2", "a", false), named("3", "", false), named("4", "", false), named("5", "b", false))
	acks, nacks := c.confirmed()
	c.want("ready", c.ready(), "1", "3", "4", "5")
	if len(acks) != 5 || len(nacks) != 0 || c.Counts.Duplicates != 1 {
		t.Errorf("%v, %v, %d dropped", acks, nacks, c.Counts.Duplicates)
	}
	c.at(999)
	c.publish(named("6", "a", false))
	c.want("at its end", c.ready(), "1", "3", "4", "5")
	c.at(1000)
	c.publish(named("7", "a", false), named("8", "c", false))
	c.want("behind it", c.ready(), "1", "3", "4", "5", "7")
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	c.publish(named("9", "a", false), named("10", "c", false))
	c.want("purged; refused before", c.ready(), "10")
	s := c.Settings
	s.DuplicateWindow = -1
	c.feed(&mail.Configure{Settings: s})
	c.publish(named("11", "a", false))
	if c.want("without a window", c.ready(), "10", "11"); c.duplicates.window.Len() != 0 {
		t.Errorf("%d ids are known", c.duplicates.window.Len())
	}
	c.publish(func() message.Message {
		m := named("dead", "a", false)
		m.Overlay = m.Overlay.Died(message.Death{Queue: "other", Reason: "rejected"})
		return m
	}())
	c.want("dead letters", c.ready(), "10", "11", "dead")
}

// TestNotesAreBounded_DUP3_SESSION5: without room for more, a window keeps as many ids as it has, the newest ones, and larger session
// states are refused.
func TestNotesAreBounded_DUP3_SESSION5(t *testing.T) {
	c := newCore(t, window(1000))
	c.Scarce = true
	for i := range 3 {
		c.publish(named(fmt.Sprint("first", i), fmt.Sprint("first", i), false))
	}
	if c.duplicates.window.Len() != 1 {
		t.Errorf("%d ids of none", c.duplicates.window.Len())
	}
	c.Scarce = false
	for i := range 10 {
		c.publish(named(fmt.Sprint(i), fmt.Sprint(i), false))
	}
	c.Scarce = true
	c.publish(named("new", "new", false), named("newer", "newer", false))
	c.publish(named("twice", "newer", false))
	if c.duplicates.window.Len() != 11 || c.Counts.Duplicates != 1 {
		t.Errorf("%d ids, %d dropped", c.duplicates.window.Len(), c.Counts.Duplicates)
	}

	s := newCoreOf(t, sessionConfig())
	s.granted(ch1, "a", "a")
	s.uses(mail.UseSession{ID: "a", Set: true, State: []byte("state")})
	s.Full = errors.New("at most 7 bytes")
	for _, x := range []struct {
		state   string
		refused bool
	}{{"larger", true}, {"other", false}, {"", false}, {"state", true}} {
		r := s.uses(mail.UseSession{ID: "a", Set: true, State: []byte(x.state)})
		if x.refused != errors.Is(r.Err, mail.ErrSessionsFull) || x.refused && !strings.Contains(r.Err.Error(), "at most 7 bytes") {
			t.Errorf("%q: %v", x.state, r.Err)
		}
	}
}

// TestDuplicatesMoved_DUP1: moved messages are accepted in any case, even when moved back into their own queue before the
// original is acknowledged.
func TestDuplicatesMoved_DUP1(t *testing.T) {
	c := newCore(t, window(1000))
	c.publish(named("1", "a", false))
	c.get(ch1)
	c.feed(&mail.Enqueue{From: publisher, Moved: true, Messages: []message.Message{named("moved", "a", false), named("moved", "b", false)}})
	c.settle(ch1, mail.Ack, 1, 1)
	c.publish(named("2", "a", false), named("3", "b", false))
	c.want("ready", c.ready(), "moved", "moved", "3")
}

// TestDuplicatesSurvive_DUP2: after a restart the ids of persistent messages are known, removed or not, with their times; a
// duplicate is confirmed when the original is in the journal; ids past the window leave nothing in the journal.
func TestDuplicatesSurvive_DUP2(t *testing.T) {
	cfg := testConfig(settings(window(1000)))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	c.publish(named("1", "a", true))
	c.publish(named("2", "a", true))
	if acks, _ := c.confirmed(); len(acks) != 0 {
		t.Fatalf("%v confirmed before they are stored", acks)
	}
	c.settleCommit()
	c.settleCommit()
	acks, _ := c.confirmed()
	c.wantNumbers("stored", acks, 1, 2)
	c.hold = false
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 1)
	c.at(400)
	c.publish(named("3", "b", true))
	c.publish(named("4", "transient", false))
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	cfg.Recovered = c.disk.survivors()
	again := newCoreOf(t, cfg)
	again.disk, again.now = c.disk, c.now
	again.at(999)
	again.publish(named("5", "a", true), named("6", "b", true), named("7", "transient", true))
	again.want("within the window", again.ready(), "7")
	again.at(1000)
	again.publish(named("8", "a", true), named("9", "b", true))
	again.want("behind the first", again.ready(), "7", "8")
	again.at(1400)
	again.publish(named("10", "b", true))
	again.want("behind the second", again.ready(), "7", "8", "10")
	again.at(10_000)
	if n := len(again.disk.survivors()); n != 3 || again.duplicates.window.Len() != 0 {
		t.Errorf("%d records, %d ids", n, again.duplicates.window.Len())
	}
}

// TestDuplicatesConfirm_DUP2: a persistent message that is delivered or dropped at once is confirmed when the journal has its id.
func TestDuplicatesConfirm_DUP2(t *testing.T) {
	for _, direct := range []bool{true, false} {
		cfg := testConfig(settings(window(1000)))
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		if c.hold = true; direct {
			c.consume(ch1, "a", 0, noAck)
		}
		for _, persistent := range []bool{true, false} {
			m := named("1", fmt.Sprint(persistent), persistent)
			m.TTL = 0
			c.publish(m)
		}
		acks, _ := c.confirmed()
		c.wantNumbers("before the journal has it", acks, 2)
		c.settleCommit()
		acks, _ = c.confirmed()
		c.wantNumbers("when it has it", acks, 1)
		if got := len(c.delivered("a")); direct != (got == 2) || c.Backlog.Len() > 0 {
			t.Errorf("%d delivered", got)
		}
	}
}

// TestDuplicatesRandom_DUP1 compares random publishes with a map.
func TestDuplicatesRandom_DUP1(t *testing.T) {
	seeded(t, 10, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		cfg := testConfig(settings(window(300)))
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		until, want := map[string]int64{}, []string(nil)
		for i := range 500 {
			id := fmt.Sprint(rng.IntN(20))
			body := fmt.Sprint(i)
			c.publish(named(body, id, true))
			if at, known := until[id]; !known || c.ms() >= at {
				until[id] = c.ms() + 300
				want = append(want, body)
			}
			switch rng.IntN(30) {
			case 0:
				cfg.Recovered, cfg.Newest = c.disk.survivors(), c.Seq
				next := newCoreOf(t, cfg)
				next.disk, next.now, next.number = c.disk, c.now, c.number
				c = next
			default:
				c.at(c.ms() + rng.Int64N(20))
			}
		}
		var got []string
		c.Backlog.Walk(func(h uint32) bool {
			got = append(got, c.body(h))
			return true
		})
		c.want("accepted", got, want...)
	})
}

// TestNumbers_DUP1: the numbers in confirms are those of the messages, also while the queue writes down their ids.
func TestNumbers_DUP1(t *testing.T) {
	cfg := testConfig(settings(window(1000)))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	e := &mail.Enqueue{From: publisher, Numbered: true}
	for i, id := range []string{"a", "b", "a", "c"} {
		m := named("x", id, true)
		m.Number = uint64(i + 1)
		e.Messages = append(e.Messages, m)
	}
	c.feed(e)
	if r := one[*mail.EnqueueReply](c); fmt.Sprint(r.Seqs) != "[1 3 0 5]" {
		t.Error(r.Seqs)
	}
}
