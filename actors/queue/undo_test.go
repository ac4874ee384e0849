package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// become changes the settings.
func (c *core) become(change ...func(*policies.QueueSettings)) {
	c.feed(&mail.Configure{Settings: settings(change...)})
}

// deadlines lists the messages, without scheduled ones, as "body deadline", in ms from the start, by number.
func (c *core) deadlines() (list []string) {
	var all []backlog.Handle
	c.Backlog.Sweep(1, 1<<30, func(h backlog.Handle) { all = append(all, h) })
	slices.SortFunc(all, func(a, b backlog.Handle) int { return int(c.Backlog.Seq(a)) - int(c.Backlog.Seq(b)) })
	for _, h := range all {
		at := "never"
		if ms := c.Expiry.Present(h); ms != store.Never {
			at = fmt.Sprint(ms - start)
		}
		list = append(list, c.body(h)+" "+at)
	}
	return list
}

// TestUndo_TTL25: messages keep the deadline fixed at their entry beside one by a retroactive TTL, and have it again
// when that TTL is withdrawn, in any way; this holds for messages in any state and place, with and without a restart in
// between.
func TestUndo_TTL25(t *testing.T) {
	before := []func(*policies.QueueSettings){dlx, ttl(5000)}
	shorter := []func(*policies.QueueSettings){dlx, ttl(1000), retroactive}
	for name, back := range map[string]struct {
		change []func(*policies.QueueSettings)
		want   []string // deadlines of the messages ready, own, unacked, deferred, later
	}{
		"undone":      {before, []string{"ready 5000", "own 3000", "unacked 5000", "deferred 5000", "later 1100"}},
		"no TTL":      {[]func(*policies.QueueSettings){dlx}, []string{"ready 5000", "own 3000", "unacked 5000", "deferred 5000", "later 1100"}},
		"longer":      {[]func(*policies.QueueSettings){dlx, ttl(9000), retroactive}, []string{"ready 9000", "own 3000", "unacked 9000", "deferred 9000", "later 9100"}},
		"none at all": {[]func(*policies.QueueSettings){dlx, retroactive}, []string{"ready never", "own 3000", "unacked never", "deferred never", "later never"}},
		"strict":      {append(slices.Clone(before), strict), []string{"ready 5000", "own 3000", "unacked 5000", "deferred 5000", "later 1100"}},
	} {
		for _, how := range []string{"no restart", "restart", "restart, recovering", "paged out"} {
			t.Run(name+", "+how, func(t *testing.T) {
				c := durableCore(t, before...)
				c.publish(persistentMsg("ready", -1), persistentMsg("own", 3000), persistentMsg("unacked", -1), persistentMsg("deferred", -1))
				for range 4 {
					c.get(ch1)
				}
				c.settle(ch1, mail.Defer, 4, 4)
				c.settle(ch1, mail.Requeue, 1, 2)
				if how == "paged out" {
					c.pressed = func() bool { return true }
					c.feed(&mail.Trim{})
				}
				c.at(100)
				c.become(shorter...)
				c.publish(persistentMsg("later", -1))
				c.want("retimed", c.deadlines(), "ready 1000", "own 1000", "unacked 1000", "deferred 1000", "later 1100")
				switch how {
				case "restart":
					c = c.restarted(0, shorter...)
					c.want("restarted", c.deadlines(), "ready 1000", "own 1000", "unacked 1000", "deferred 1000", "later 1100")
				case "restart, recovering":
					cfg := testConfig(settings(shorter...))
					cfg.Queue.Durable, cfg.Recovered, cfg.Newest, cfg.Recovering = true, c.disk.survivors(), c.Seq, true
					next := &core{t: t, now: c.now, disk: c.disk, number: c.number}
					next.init(&cfg, queuePID, next.now)
					c = next
				}
				c.at(999)
				if c.become(back.change...); how == "restart, recovering" {
					c.feed(&mail.Activate{})
				}
				c.want("taken back", c.deadlines(), back.want...)
				c.want("expired", c.seenOff())
				c.at(1000)
				c.want("expired at the withdrawn deadline", c.seenOff())
				c = c.restarted(0, back.change...)
				c.want("after a restart", c.deadlines(), back.want...)
			})
		}
	}
}

// TestUndoIsStored_TTL25: what is written about a retimed message is the deadline fixed at its entry.
func TestUndoIsStored_TTL25(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		c := durableCore(t, ttl(5000))
		m := msg("m", -1)
		if persistent {
			m = persistentMsg("m", -1)
		}
		c.publish(m)
		c.become(ttl(1000), retroactive)
		c.get(ch1)
		if persistent { // it is put again
			c.feed(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: 1, Last: 1, How: mail.Requeue, Outcome: &mail.Outcome{Properties: table("a", "b")}}}})
		} else {
			c.settle(ch1, mail.Requeue, 1, 1)
			c.pressed, c.Pager.Idle = func() bool { return true }, 0
			c.feed(&mail.Trim{})
		}
		if r := c.disk.puts[1]; r.Deadline != start+5000 {
			t.Errorf("persistent %v: the deadline %d was written", persistent, r.Deadline-start)
		}
	}
}

// TestUndoInTurns_TTL25_TTL33: while a sweep over many messages is under way, no message that it has not reached yet
// expires by the withdrawn TTL or is delivered after its deadline, and each turn stays bounded.
func TestUndoInTurns_TTL25_TTL33(t *testing.T) {
	const n = 20*messages.TurnLimit + 7
	for _, order := range []func(*policies.QueueSettings){func(*policies.QueueSettings) {}, strict} {
		c := newCore(t, dlx, order)
		batch := make([]message.Message, n)
		for i := range batch {
			batch[i] = msg(fmt.Sprint(i), message.NoTTL)
		}
		c.publish(batch...)
		c.become(dlx, ttl(500), retroactive, order)
		c.at(499)
		c.slow = true
		c.become(dlx, order)
		c.now += 1e6 // the withdrawn deadline
		turns := 0
		for c.feed(timerFired{}); c.waiting; turns++ {
			c.waiting = false
			c.want("expired", c.seenOff())
			if g := c.get(ch1); g.Empty {
				t.Fatal("a message was withheld")
			} else {
				c.settle(ch1, mail.Requeue, g.Delivery.Number, g.Delivery.Number)
			}
			c.feed(again{})
		}
		if turns < 10 || c.Backlog.Ready() != n || c.Expiry.Len() != 0 {
			t.Errorf("%d turns, %d of %d left, %d of them with a deadline", turns, c.Backlog.Ready(), n, c.Expiry.Len())
		}
	}
}

// TestForwardUndone_TTL25: a message that waits to be forwarded again has its own deadline when the TTL was withdrawn.
func TestForwardUndone_TTL25(t *testing.T) {
	forward := func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = true, "x" }
	c := newCore(t, forward)
	c.publish(msg("m", -1))
	first := one[*mail.DeadLetter](c)
	c.become(forward, ttl(5000), retroactive)
	c.at(100)
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Retained: []mail.Retained{{ID: first.Messages[0].Number}}})
	c.become(forward)
	c.at(1200)
	if m := one[*mail.DeadLetter](c).Messages[0]; m.TTL != message.NoTTL {
		t.Errorf("forwarded with a TTL of %d ms", m.TTL)
	}
}

// TestEqualDeadlines_TTL25_TTL31: messages that a retroactive TTL or its withdrawal gives the same deadline expire in queue order.
func TestEqualDeadlines_TTL25_TTL31(t *testing.T) {
	c := newCore(t, dlx, ttl(5000))
	c.publish(msg("a", -1), msg("b", 900), msg("c", -1), msg("d", 2000))
	c.become(dlx, ttl(700), retroactive)
	c.become(dlx, ttl(900), retroactive)
	c.at(900)
	c.want("expired", c.seenOff(), strings.Split("expired a,expired b,expired c,expired d", ",")...)
}
