package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// kindsOfQueues are durable queues by the number of messages that they store, of one transient and one persistent message.
var kindsOfQueues = map[string]struct {
	change func(cfg *Config)
	stored int
}{
	"transient": {func(cfg *Config) { cfg.Queue.Durable = false }, 0},
	"classic":   {func(*Config) {}, 1},
	"quorum": {func(cfg *Config) {
		cfg.Queue.Arguments = policies.WithQueueType(nil, true, false, false, "quorum")
	}, 2},
	"dead letters": {func(cfg *Config) { cfg.Queue.Arguments = policies.DeadLetterQueueArguments("orders") }, 2},
}

// eachKind runs f with an empty queue of each kind.
func eachKind(t *testing.T, s policies.QueueSettings, f func(t *testing.T, c *core, stored int)) {
	for name, kind := range kindsOfQueues {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(s)
			cfg.Queue.Durable = true
			kind.change(&cfg)
			f(t, newCoreOf(t, cfg), kind.stored)
		})
	}
}

// writeAll ends all commits.
func (c *core) writeAll() {
	for len(c.commits) > 0 {
		c.settleCommit()
	}
}

// TestConfirm_STORE2: the confirm of a message waits for the journal exactly if the message is stored, also in a queue that
// was dormant, and with a consumer.
func TestConfirm_STORE2(t *testing.T) {
	eachKind(t, settings(), func(t *testing.T, c *core, stored int) {
		c.hold = true
		c.publish(msg("a", -1), persistentMsg("b", -1))
		if acks, _ := c.confirmed(); len(acks) != 2-stored {
			t.Errorf("confirmed before they are stored: %v", acks)
		}
		c.writeAll()
		if acks, nacks := c.confirmed(); len(acks) != stored || len(nacks) != 0 {
			t.Errorf("confirmed when they are stored: %v, refused %v", acks, nacks)
		}
		c.consume(ch1, "a", 10)
		c.publish(msg("c", -1), persistentMsg("d", -1))
		if acks, _ := c.confirmed(); len(acks) != 2-stored || len(c.delivered("a")) != 4 {
			t.Errorf("confirmed before they are stored: %v", acks)
		}
		c.writeAll()
		if acks, _ := c.confirmed(); len(acks) != stored {
			t.Errorf("confirmed when they are stored: %v", acks)
		}
	})
}

// TestAcknowledgedEarly_STORE2: the confirm of a stored message waits for the journal also if a consumer has acknowledged it.
func TestAcknowledgedEarly_STORE2(t *testing.T) {
	eachKind(t, settings(), func(t *testing.T, c *core, stored int) {
		c.hold = true
		c.consume(ch1, "a", 10)
		c.publish(msg("a", -1), persistentMsg("b", -1))
		if acks, _ := c.confirmed(); len(acks) != 2-stored {
			t.Errorf("confirmed before they are stored: %v", acks)
		}
		c.settle(ch1, mail.Ack, 1, 2)
		if acks, _ := c.confirmed(); len(acks) != 0 {
			t.Errorf("confirmed when they are acknowledged: %v", acks)
		}
		c.writeAll()
		if acks, nacks := c.confirmed(); len(acks) != stored || len(nacks) != 0 {
			t.Errorf("confirmed when they are stored: %v, refused %v", acks, nacks)
		}
	})
}

// TestCounts_STORE3: the count of persistent messages equals the count of stored ones, with the sizes of their bodies.
func TestCounts_STORE3(t *testing.T) {
	eachKind(t, settings(), func(t *testing.T, c *core, stored int) {
		c.publish(msg("aa", -1), persistentMsg("bb", -1))
		c.confirmed()
		want := func(n int) {
			t.Helper()
			if info := c.info(); info.Persistent != n || info.PersistentBytes != int64(2*n) {
				t.Errorf("%d messages with %d bytes, want %d", info.Persistent, info.PersistentBytes, n)
			}
		}
		want(stored)
		c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
		want(0)
	})
}

// TestFailedJournal_STORE1: once the journal has failed, exactly the messages that would be stored are refused.
func TestFailedJournal_STORE1(t *testing.T) {
	eachKind(t, settings(), func(t *testing.T, c *core, stored int) {
		c.disk.err = store.ErrClosed
		c.publish(persistentMsg("breaks it", -1))
		c.publish(msg("a", -1))
		c.publish(msg("a", -1), persistentMsg("b", -1))
		c.confirmed()
		c.publish(msg("a", -1), persistentMsg("b", -1))
		if acks, nacks := c.confirmed(); len(nacks) != stored || len(acks) != 2-stored {
			t.Errorf("taken %v, refused %v", acks, nacks)
		}
	})
}

// TestIds_STORE1: the id of a stored message is stored with it, of others it is not.
func TestIds_STORE1(t *testing.T) {
	window := settings(func(s *policies.QueueSettings) { s.DuplicateWindow = 1000 })
	eachKind(t, window, func(t *testing.T, c *core, stored int) {
		c.publish(named("a", "1", false), named("b", "2", true))
		notes := 0
		for _, r := range c.records {
			if r.Kind == store.Put && r.Note {
				notes++
			}
		}
		if notes != stored {
			t.Errorf("%d ids are stored, want %d", notes, stored)
		}
	})
}

// TestLetters_STORE1: a dead letter has the delivery mode of its message, whether that was stored, paged out or read back, so that
// the next queue decides anew.
func TestLetters_STORE1(t *testing.T) {
	for _, tight := range []bool{false, true} {
		eachKind(t, settings(dlx), func(t *testing.T, c *core, _ int) {
			c.pressed = func() bool { return tight }
			c.publish(msg("a", 10), persistentMsg("b", 10))
			c.at(1)
			c.at(10)
			got := map[string]bool{}
			for _, d := range all[*mail.DeadLetter](c) {
				for i := range d.Messages {
					got[string(d.Messages[i].Body)] = d.Messages[i].Persistent()
				}
			}
			if len(got) != 2 || got["a"] || !got["b"] {
				t.Errorf("paged out %v: persistent are %v", tight, got)
			}
		})
	}
}

// TestAmended_STORE1: an amended message is written again as it was: stored or only paged out.
func TestAmended_STORE1(t *testing.T) {
	eachKind(t, settings(), func(t *testing.T, c *core, stored int) {
		c.consume(ch1, "a", 10)
		c.publish(msg("a", -1), persistentMsg("b", -1))
		puts := func() (n int) {
			for _, r := range c.disk.puts {
				if r.Kind == store.Put {
					n++
				}
			}
			return n
		}
		for range 2 {
			numbers := []uint64{}
			for _, d := range c.items() {
				numbers = append(numbers, d.Number)
			}
			if puts() != stored || len(numbers) != 2 {
				t.Fatalf("%d stored, want %d; deliveries %v", puts(), stored, numbers)
			}
			for _, n := range numbers {
				c.outcome(mail.Requeue, n, &mail.Outcome{Properties: table("p", "1")})
			}
		}
	})
}
