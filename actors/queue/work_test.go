package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// many is a number of messages that takes several turns.
const many = 5*workLimit + 77

// crowd returns a core with many messages of ten priorities, every third of them transient.
func crowd(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	c := durableCore(t, append(change, priorities(9))...)
	var batch []message.Message
	for n := range many {
		m := msg(fmt.Sprint(n), message.NoTTL)
		setPersistent(&m, n%3 > 0)
		m.Priority = uint8(n % 10)
		batch = append(batch, m)
	}
	c.publish(batch...)
	all[*mail.EnqueueReply](c)
	c.records = nil
	return c
}

// held delivers all messages to one channel.
func (c *core) held() *core {
	c.consume(ch1, "a", 0)
	for n := 0; c.Backlog.Ready() > 0; n++ {
		if n > 100 {
			c.t.Fatal("not delivered")
		}
		for _, d := range all[*mail.Deliver](c) {
			bytes := 0
			for _, x := range d.Items {
				bytes += len(x.Message.Body)
			}
			c.feed(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: len(d.Items), Bytes: bytes})
		}
	}
	all[*mail.Deliver](c)
	c.records = nil
	return c
}

// inTurns feeds a mail, and others behind it, one turn at a time, and fails if a turn does too much. It returns the number of
// turns.
func (c *core) inTurns(mails ...any) (turns int) {
	c.t.Helper()
	c.slow = true
	step := func(what any) {
		records, ready, held, all := len(c.records), c.Backlog.Ready(), c.consumers.Unacked(), c.Backlog.Len()
		c.turn(what)
		turns++
		for what, n := range map[string]int{
			"records": len(c.records) - records, "made or no more ready": c.Backlog.Ready() - ready,
			"held or no more": c.consumers.Unacked() - held, "gone": all - c.Backlog.Len(),
		} {
			if n = max(n, -n); n > 2*workLimit {
				c.t.Errorf("turn %d: %d %s", turns, n, what)
			}
		}
	}
	for _, m := range mails {
		step(m)
	}
	for c.waiting {
		c.waiting = false
		step(again{})
		for m, ok := c.unpark(); ok; m, ok = c.unpark() {
			step(m)
		}
	}
	c.slow = false
	return turns
}

// TestWork_TTL33: long work is cut into turns of limited size, and mail behind it is handled when it is done.
func TestWork_TTL33(t *testing.T) {
	everything := []mail.SettleRange{{First: 1, Last: 1 << 60, How: mail.Requeue}}
	requeue := &mail.Settle{Channel: ch1, Ranges: everything}
	for name, tt := range map[string]struct {
		core func() *core
		mail any
		turn int // minimum number of turns
		left int // messages left
		then func(c *core)
	}{
		"purge with one that is held": {
			func() *core {
				c := crowd(t)
				c.get(ch1)
				return c
			}, &mail.Purge{Request: mail.Request{ReplyTo: ch1}}, 5, 1,
			func(c *core) {
				if n := one[*mail.PurgeReply](c).MessageCount; n != many-1 {
					t.Errorf("%d purged", n)
				}
			},
		},
		"ack of all": {
			func() *core { return crowd(t).held() },
			&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: 1, Last: many, How: mail.Ack}}}, 5, 0,
			func(c *core) {
				if c.Counts.Ack != many || c.Counts.Late != 0 {
					t.Errorf("%d acks, %d late", c.Counts.Ack, c.Counts.Late)
				}
			},
		},
		"ack of all, one by one": {
			func() *core { return crowd(t).held() },
			func() any {
				m := &mail.Settle{Channel: ch1}
				for n := range uint64(many) {
					m.Ranges = append(m.Ranges, mail.SettleRange{First: many - n, Last: many - n, How: mail.Ack})
				}
				return m
			}(), 5, 0, func(*core) {},
		},
		"requeue of all": {
			func() *core {
				c := crowd(t).held()
				c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
				return c
			}, requeue, 5, many,
			func(c *core) {
				if c.Backlog.Ready() != many || c.ready()[0] != "9" {
					t.Errorf("%d are ready, the first is %s", c.Backlog.Ready(), c.ready()[0])
				}
			},
		},
		"requeue to another consumer": {
			func() *core {
				c := crowd(t).held()
				c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
				for n := range 10 {
					c.consume(ch2, fmt.Sprint(n), 0)
				}
				return c
			}, &mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: 1, Last: many, How: mail.Requeue}}}, 10, many,
			func(c *core) {
				if c.consumers.Unacked() != many {
					t.Errorf("%d are delivered", c.consumers.Unacked())
				}
			},
		},
		"the channel is gone": {
			func() *core { return crowd(t).held() }, &mail.ChannelGone{Channel: ch1}, 5, many,
			func(c *core) {
				if c.Backlog.Ready() != many || c.openChannels() != 0 || c.consumers.Len() != 0 {
					t.Errorf("%d are ready", c.Backlog.Ready())
				}
			},
		},
		"nobody dead-letters any more": {
			func() *core {
				c := crowd(t, dlx).held()
				c.settle(ch1, mail.Reject, 1, many)
				return c
			}, &mail.Configure{Settings: settings(priorities(9))}, 3, deadletters.Limit,
			func(c *core) {
				if n := c.DeadLetters.Counts().Len; n != deadletters.Limit {
					t.Errorf("%d are dead letters", n)
				}
			},
		},
		"list of what is held": {
			func() *core { return crowd(t).held() }, &mail.ListUnacked{Request: mail.Request{ReplyTo: ch2}, Limit: 7}, 5, many,
			func(c *core) {
				p := one[*mail.UnackedPage](c)
				if len(p.Deliveries) != 7 || !p.More || p.Deliveries[0].Seq+6 != p.Deliveries[6].Seq {
					t.Errorf("%+v", p)
				}
			},
		},
		"peek at what is held": {
			func() *core { return crowd(t).held() },
			&mail.Peek{Request: mail.Request{ReplyTo: ch2}, Limit: 3, States: mail.Unacked, Cut: -1}, 5, many,
			func(c *core) {
				if p := one[*mail.PeekReply](c); len(p.Messages) != 3 || string(p.Messages[0].Body) != "9" {
					t.Errorf("%+v", p)
				}
			},
		},
		"locks of a consumer": {
			func() *core {
				return crowd(t, func(s *policies.QueueSettings) { s.ConsumerTimeout = 60_000 }).held()
			},
			&mail.RenewLock{Request: mail.Request{ReplyTo: ch2}, Tag: "a"}, 5, many,
			func(c *core) {
				if r := one[*mail.RenewLockReply](c); r.Count != many {
					t.Errorf("%+v", r)
				}
			},
		},
		"return of one": {
			func() *core { return crowd(t).held() }, &mail.ReturnDelivery{Request: mail.Request{ReplyTo: ch2}, Seq: many}, 1, many,
			func(c *core) {
				if r := one[*mail.ReturnDeliveryReply](c); !r.Found {
					t.Errorf("%+v", r)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := tt.core()
			behind := &mail.DescribeQueue{Request: mail.Request{ReplyTo: other}}
			if n := c.inTurns(tt.mail, behind); n < tt.turn+1 {
				t.Errorf("only %d turns", n)
			}
			if c.Backlog.Len() != tt.left {
				t.Errorf("%d messages are left, want %d", c.Backlog.Len(), tt.left)
			}
			info := one[*mail.QueueInfo](c)
			if name != "nobody dead-letters any more" && info.Ready+info.Unacked != tt.left {
				t.Errorf("who came behind it saw %d ready, %d unacknowledged", info.Ready, info.Unacked)
			}
			tt.then(c)
		})
	}
}

// TestPurgeAtOnce: without unacked messages a purge takes one turn and one record, for any number of messages.
func TestPurgeAtOnce(t *testing.T) {
	c := crowd(t, delaying)
	c.publish(heldBack("later", 1000))
	c.records = nil
	c.slow = true
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if c.slow = false; c.waiting || c.pending.Work() != nil {
		t.Error("it goes on")
	}
	if n := one[*mail.PurgeReply](c).MessageCount; n != many+1 {
		t.Errorf("%d purged", n)
	}
	if len(c.records) != 1 || len(c.disk.puts) != 0 || c.Backlog.Counted()+c.Scheduled.Counted() != 0 || c.Backlog.Len() != 0 || c.Scheduled.Len() > 0 {
		t.Errorf("%d records, %d messages in the journal, %d bytes", len(c.records), len(c.disk.puts), c.Backlog.Counted()+c.Scheduled.Counted())
	}
	c.put("next")
	c.want("ready", c.ready(), "next")
}

// TestPurgeRecords: only unacked messages split the records of a purge.
func TestPurgeRecords(t *testing.T) {
	c := durableCore(t, priorities(9))
	var batch []message.Message
	for n := range many {
		m := msg(fmt.Sprint(n), message.NoTTL)
		setPersistent(&m, true)
		m.Priority = uint8(n % 10)
		batch = append(batch, m)
	}
	c.publish(batch...)
	for range 5 {
		c.get(ch1)
	}
	c.records = nil
	turns := c.inTurns(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if n := len(c.records); n > 5+1+turns {
		t.Errorf("%d records in %d turns", n, turns)
	}
	if len(c.disk.puts) != 5 {
		t.Errorf("the journal has %d messages", len(c.disk.puts))
	}
}

// TestPurgeLeavesWhatHasExpired: messages past their deadlines expire and are not purged, in any number.
func TestPurgeLeavesWhatHasExpired(t *testing.T) {
	c := newCore(t, dlx)
	var batch []message.Message
	for n := range 3 * messages.TurnLimit {
		batch = append(batch, msg("mortal", 10), msg(fmt.Sprint(n), message.NoTTL))
	}
	c.publish(batch...)
	c.now += 20e6
	c.inTurns(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if n := one[*mail.PurgeReply](c).MessageCount; n != 3*messages.TurnLimit {
		t.Errorf("%d purged", n)
	}
	if dead, _ := c.died(); len(dead) != 3*messages.TurnLimit {
		t.Errorf("%d expired", len(dead))
	}
}

// TestWorkIsNotDelivered: messages being purged are not delivered, and messages published during the purge come after
// it.
func TestWorkIsNotDelivered(t *testing.T) {
	c := crowd(t)
	c.get(ch1)
	c.inTurns(&mail.Purge{Request: mail.Request{ReplyTo: ch1}},
		&mail.Consume{Request: mail.Request{ReplyTo: ch2}, Channel: ch2, Tag: "b", Connection: owner},
		&mail.Enqueue{From: publisher, Messages: []message.Message{msg("new", message.NoTTL)}})
	c.want("delivered", c.delivered("b"), "new")
}

// TestWorkExpires_TTL17: messages that become due while deliveries are requeued expire before the requeue ends.
func TestWorkExpires_TTL17(t *testing.T) {
	c := crowd(t, dlx).held()
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	c.publish(msg("mortal", 10))
	c.slow = true
	c.turn(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: 1, Last: many, How: mail.Requeue}}})
	c.now += 10e6
	c.turn(again{})
	if c.pending.Work() == nil {
		t.Fatal("it is done already")
	}
	c.want("expired", c.seenOff(), "expired mortal")
}

// TestSleepAndAckTimeouts: a suspend of the machine extends all locks at once.
func TestSleepAndAckTimeouts(t *testing.T) {
	c := newCore(t, func(s *policies.QueueSettings) { s.ConsumerTimeout = 60_000 })
	c.put("a", "b")
	c.get(ch1)
	c.at(10_000)
	c.now += 3600e9
	c.machineSlept(3600*time.Second, c.now)
	c.get(ch1)
	first, _ := c.consumers.Channel(ch1).Unacked.Get(1)
	if until := c.deliveries.Timeouts.Until(first.Message) - start; until != 3_660_000 {
		t.Errorf("%d ms", until)
	}
	for _, tt := range []struct{ at, back int64 }{{3_659_999, 0}, {3_660_000, 1}, {3_669_999, 1}, {3_670_000, 2}} {
		c.at(tt.at)
		if n := int64(c.Backlog.Ready()); n != tt.back {
			t.Errorf("%d are back after %d ms", n, tt.at)
		}
	}
}

// TestWorkFails: the requester of unfinished work gets an error when the queue is stopped.
func TestWorkFails(t *testing.T) {
	bubble(t, settings(), nil, func(r *rig) {
		request := mail.Request{ReplyTo: r.channel.pid}
		r.look(func(s *state) {
			s.pending.Start(&deliveries.LongCommand{Step: func(clock.Instant) bool { return false }, End: func(clock.Instant) {}, Asked: &mail.Purge{Request: request}}, 0)
		})
		r.send(&mail.Get{Request: request, Channel: r.channel.pid})
		_ = r.system.Root.StopFuture(r.queue).Wait()
		synctest.Wait()
		if n := len(got[*mail.PurgeReply](r.channel)); n != 1 {
			t.Errorf("%d answers to a purge", n)
		}
		if n := len(got[*mail.GetReply](r.channel)); n != 1 {
			t.Errorf("%d answers to a get", n)
		}
	})
}

// TestWorkRandom: random settlements cut into turns keep the counts and the journal consistent.
func TestWorkRandom(t *testing.T) {
	seeded(t, 5, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := crowd(t).held()
		for range 20 {
			first := uint64(1 + r.IntN(many))
			last := first + uint64(r.IntN(many/3))
			how := mail.Settlement(r.IntN(2))
			c.inTurns(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: first, Last: last, How: how}}})
		}
		if uint64(c.Backlog.Len())+c.Counts.Ack != many || c.Backlog.Ready()+c.consumers.Unacked() != c.Backlog.Len() {
			t.Errorf("%d messages, %d acks", c.Backlog.Len(), c.Counts.Ack)
		}
		left := 0
		for _, r := range c.disk.puts {
			if r.Kind == store.Put {
				left++
			}
		}
		persistent := 0
		c.Backlog.Sweep(1, 1<<30, func(h uint32) {
			if c.Backlog.Entry(h).Stored {
				persistent++
			}
		})
		if left != persistent {
			t.Errorf("%d in the journal, %d persistent", left, persistent)
		}
	})
}
