package queue

import (
	"testing"
	"time"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// endingCore is a durable queue whose lease has ended with these messages.
func endingCore(t *testing.T, bodies ...string) *core {
	cfg := testConfig(settings(dlx, expires(900), withBacklog))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	for _, body := range bodies {
		c.publish(persistentMsg(body, -1))
	}
	c.confirmed()
	c.at(900)
	c.vhostAnswers()
	return c
}

// TestEndingKeepsRefused_LEASE14: messages that a target refuses are sent again, with growing delays, as by any queue,
// and stay in the journal until they are taken.
func TestEndingKeepsRefused_LEASE14(t *testing.T) {
	c := endingCore(t, "a", "b")
	dead, ids, care := c.letters()
	c.want("dead", dead, "a", "b")
	if care != mail.RetryRefused {
		t.Errorf("guarantee %d", care)
	}
	c.records = nil
	c.keep(ids...)
	one[*mail.QueueHeldUp](c)
	if len(c.records) > 0 {
		t.Errorf("records %+v", c.records)
	}
	for _, ms := range []int64{1900, 3900, 7900} {
		c.at(ms - 1)
		if dead, _, _ := c.letters(); len(dead) > 0 {
			t.Errorf("early: %q", dead)
		}
		c.at(ms)
		dead, ids, _ = c.letters()
		c.want("again", dead, "a", "b")
		c.keep(ids...)
	}
	info := c.describe()
	if info.Ready != 2 || info.DeadLetters != 2 || info.Retrying != 2 || info.NextAttempt != start+15_900 || info.Lease != (mail.Lease{}) {
		t.Errorf("%+v", info)
	}
	c.at(15_900)
	_, ids, _ = c.letters()
	c.takenCareOf(ids...)
	if m := one[*mail.QueueRetiring](c); m.Ending != "" || m.Lost != 0 {
		t.Errorf("%+v", m)
	}
	if len(all[*mail.QueueHeldUp](c)) > 0 {
		t.Error("the vhost was told again")
	}
}

// describe asks the queue about itself.
func (c *core) describe() *mail.QueueInfo {
	c.t.Helper()
	c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}})
	return one[*mail.QueueInfo](c)
}

// TestEndingIsSlow_LEASE15: the vhost is told once when the end takes long, and what did not arrive is counted at the end.
func TestEndingIsSlow_LEASE15(t *testing.T) {
	c := endingCore(t, "a", "b")
	_, ids, _ := c.letters()
	if c.at(5899); len(all[*mail.QueueHeldUp](c)) > 0 {
		t.Error("early")
	}
	c.at(5900)
	one[*mail.QueueHeldUp](c)
	if at, due := c.next(); due {
		t.Errorf("a timer is due at %d", at-start)
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: ids[0], Last: ids[1]}}, Dropped: 1})
	c.vhostAnswers()
	if m := one[*mail.QueueExpired](c); m.Discarded != 1 || c.phase != ended {
		t.Errorf("%+v, phase %d", m, c.phase)
	}
}

// TestEndingIsCut_LEASE15: a command cuts the end short: nothing more is sent, messages under way are waited for, and all others are
// lost and counted.
func TestEndingIsCut_LEASE15(t *testing.T) {
	for name, answer := range map[string]func(c *core, ids []uint64){
		"in time": func(c *core, ids []uint64) { c.takenCareOf(ids...) },
		"too late": func(c *core, _ []uint64) {
			if c.at(5500); len(all[*mail.QueueRetiring](c)) > 0 {
				c.t.Error("it does not wait")
			}
			c.at(10_000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := endingCore(t, "a", "b", "c")
			_, ids, _ := c.letters()
			c.keep(ids[0])
			c.at(1000)
			request := mail.Request{ReplyTo: ch1}
			c.feed(&mail.DeleteQueue{Request: request, IfEmpty: true})
			if r := one[*mail.DeleteQueueReply](c); code(r.Err) == "" {
				t.Error("it counts as empty")
			}
			one[*mail.QueueDeleteRefused](c)
			c.feed(&mail.DeleteQueue{Request: request})
			if c.at(3000); len(all[*mail.DeadLetter](c))+len(all[*mail.QueueRetiring](c)) > 0 {
				t.Error("more is sent, or nothing is waited for")
			}
			answer(c, ids[1:])
			left := c.Backlog.Len()
			if m := one[*mail.QueueRetiring](c); !m.Deleted || m.Lost != left {
				t.Errorf("%+v, %d left", m, left)
			}
			c.feed(&mail.QueueForgotten{})
			if r := one[*mail.DeleteQueueReply](c); r.MessageCount != left || one[*mail.QueueExpired](c).Discarded != left {
				t.Errorf("%+v, %d left", r, left)
			}
		})
	}
}

// TestEndingGoesOn_LEASE14: if the vhost cannot forget the queue, it asks again; a deletion fails.
func TestEndingGoesOn_LEASE14(t *testing.T) {
	c := endingCore(t, "a")
	_, ids, _ := c.letters()
	c.takenCareOf(ids...)
	one[*mail.QueueRetiring](c)
	c.feed(&mail.QueueKept{})
	if c.at(1899); len(all[*mail.QueueRetiring](c)) > 0 {
		t.Error("early")
	}
	c.at(1900)
	one[*mail.QueueRetiring](c)

	c = endingCore(t, "a")
	_, ids, _ = c.letters()
	c.keep(ids...)
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
	one[*mail.QueueRetiring](c)
	c.feed(&mail.QueueKept{})
	if r := one[*mail.DeleteQueueReply](c); r.Err == nil {
		t.Errorf("%+v", r)
	}
	one[*mail.QueueDeleteRefused](c)
	c.at(2900)
	if dead, _, _ := c.letters(); len(dead) != 1 || c.phase != ending {
		t.Errorf("%q, phase %d", dead, c.phase)
	}
}

// TestDeletionWaits_LEASE15: a deletion waits for the last attempt of the queue's dead letters, as long as some arrive,
// and counts lost ones.
func TestDeletionWaits_LEASE15(t *testing.T) {
	for name, row := range map[string]struct {
		every, until int64 // ms between two answers, and until the deletion continues
		lost         int
	}{
		"none arrives": {60_000, 5000, 10}, "some arrive": {4000, 20_000, 6}, "all arrive": {1000, 10_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(t, dlx)
			for range 10 {
				c.publish(msg("m", 10))
			}
			c.put("ready")
			c.at(10)
			_, ids, _ := c.letters()
			c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
			for at := int64(500); at < row.until; at += 500 {
				if c.at(10 + at); at%row.every == 0 {
					c.takenCareOf(ids[0])
					ids = ids[1:]
				}
			}
			if len(all[*mail.QueueRetiring](c)) > 0 || c.phase != closing {
				t.Fatalf("it did not wait, phase %d", c.phase)
			}
			if c.at(10 + row.until); row.lost == 0 {
				c.takenCareOf(ids...)
			}
			if m := one[*mail.QueueRetiring](c); !m.Deleted || m.Lost != row.lost {
				t.Errorf("%+v", m)
			}
			c.feed(&mail.QueueForgotten{})
			if r := one[*mail.DeleteQueueReply](c); r.MessageCount != row.lost+1 || c.phase != ended {
				t.Errorf("%+v, phase %d", r, c.phase)
			}
		})
	}
}

// TestEndingTakesDeliveries_LEASE13: any number of deliveries are messages of the queue, except deliveries that a move
// or a transaction is about to settle.
func TestEndingTakesDeliveries_LEASE13(t *testing.T) {
	const n = 10
	c := newCore(t, dlx, expires(900), withBacklog)
	c.turnLimit = 4
	var batch []message.Message
	for range n {
		batch = append(batch, msg("m", -1))
	}
	c.publish(batch...)
	c.feed(&mail.Claim{Request: mail.Request{ReplyTo: ch2}, Limit: 1})
	claimed := one[*mail.ClaimReply](c).Messages[0].Number
	for range n - 1 {
		c.get(ch1)
	}
	if err := c.prepares([]uint64{1}, nil, 0); err != nil {
		t.Fatal(err)
	}
	c.at(2000)
	c.vhostAnswers()
	if dead := c.seenOff(); len(dead) != n-2 || c.phase != ending {
		t.Fatalf("%d dead, phase %d", len(dead), c.phase)
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.settle(ch2, mail.PutBack, claimed, claimed)
	c.want("what the move put back", c.seenOff(), "expired m")
	if c.vhostAnswers(); c.phase != ended {
		t.Errorf("phase %d", c.phase)
	}
	if m := one[*mail.QueueExpired](c); m.Discarded != 0 {
		t.Errorf("%+v", m)
	}
}

// TestEndingDiscards_LEASE14: without expires-dead-letters-backlog only the dead letters are sent; all other messages are discarded,
// some in each turn, and counted.
func TestEndingDiscards_LEASE14(t *testing.T) {
	const n = 2*messages.TurnLimit + 3
	c := newCore(t, dlx, expires(900))
	c.publish(msg("dies", 100))
	batch := make([]message.Message, n)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	c.at(100)
	c.publish(batch...)
	c.get(ch1)
	c.at(1000)
	c.slow = true
	c.vhostAnswers()
	if got := n - 1 - c.Backlog.Ready(); got != messages.TurnLimit {
		t.Errorf("%d discarded in one turn", got)
	}
	c.slow, c.waiting = false, false
	c.feed(again{})
	c.put("late")
	c.want("dead", c.seenOff(), "expired dies")
	c.vhostAnswers()
	if m := one[*mail.QueueExpired](c); m.Discarded != n || c.phase != ended {
		t.Errorf("%+v, phase %d", m, c.phase)
	}
}

// TestEndingIsRecovered_LEASE14: after a restart the end continues when the queue wakes, with all remaining messages.
func TestEndingIsRecovered_LEASE14(t *testing.T) {
	for _, why := range []string{topology.EndedLease, topology.EndedUnused} {
		cfg := testConfig(settings(dlx, func(s *policies.QueueSettings) { s.DropExpired = true }))
		cfg.Queue.Durable, cfg.Queue.Ending, cfg.Recovering = true, why, true
		cfg.Recovered = []store.Recovered{
			{Seq: 1, At: 1, Time: start - 100, Deadline: store.Never, TTL: -1, Body: 1}, {Seq: 2, At: 2, Time: start - 100, Deadline: start - 50, TTL: 50, Body: 1},
		}
		c := newCoreOf(t, cfg)
		c.disk = disk{puts: map[uint64]store.Record{
			1: {Kind: store.Put, First: 1, Last: 1, Body: []byte("a"), Header: []byte{0, 0}, Position: 1},
			2: {Kind: store.Put, First: 2, Last: 2, Body: []byte("b"), Header: []byte{0, 0}, Position: 2},
		}}
		if dead, _ := c.died(); len(dead) > 0 {
			t.Errorf("recovering: %q", dead)
		}
		c.feed(&mail.Activate{Request: mail.Request{ReplyTo: vhostPID}})
		one[*mail.ActivateReply](c)
		c.want("dead", c.seenOff(), "expired a", "expired b")
		c.vhostAnswers()
		if n := len(all[*mail.QueueExpired](c)); n != 1 && why == topology.EndedLease || n != 0 && why == topology.EndedUnused || c.phase != ended {
			t.Errorf("%s: %d events, phase %d", why, n, c.phase)
		}
	}
}

// TestLastDeadLetters_LEASE13: an ending queue dead-letters its backlog, including scheduled messages, under any
// settings for expired ones.
func TestLastDeadLetters_LEASE13(t *testing.T) {
	cfg := testConfig(settings(dlx, func(s *policies.QueueSettings) { s.DelayedMessages, s.DropExpired = true, true }))
	cfg.Queue.Durable = true
	f := newCoreOf(t, cfg)
	at := func(ms int64) clock.Instant { return clock.Instant((start + ms) * int64(time.Millisecond)) }
	records := func() map[store.Kind]int {
		n := map[store.Kind]int{}
		list, _ := f.Journal.HandOver()
		for i := range list {
			n[list[i].Kind] += int(list[i].Last - list[i].First + 1)
		}
		return n
	}
	for range messages.TurnLimit {
		m := persistentMsg("body", -1)
		f.Wait(f.Keep(&m, f.Expiry.Deadline(-1, at(0)), at(0)))
	}
	m := &message.Message{Header: []byte{0x10, 0, 2}, Body: []byte("later"), TTL: -1}
	r := f.TimesReader()
	times := r.Times(m, &protocol.Scan{}, at(0))
	times.Due.At = start + 1000
	f.Schedule(m, times, at(0))
	records()
	f.SetEnd(false, true)
	if !f.messages.DeadLetterAll() || f.messages.DeadLetterAll() || f.DeadLetters.Counts().Len != messages.TurnLimit+1 {
		t.Errorf("%+v", f.DeadLetters.Counts())
	}
	f.Settings.HasDLX = false
	if f.DeadLetters.Flush(at(0), clock.Dates{}, 1); len(f.out.Posts) > 0 || f.DeadLetters.Counts().Len != messages.TurnLimit+1 {
		t.Error("they do not wait for the exchange")
	}
	f.Settings.HasDLX = true
	f.SetEnd(true, true)
	if f.DeadLetters.Flush(at(0), clock.Dates{}, 1); f.out.Posts[0].Mail.(*mail.DeadLetter).Guarantee != mail.Drop {
		t.Error("somebody would have to wait")
	}
	records()
	f.Retire()
	if n := records(); len(n) != 1 || n[store.Retire] != 1 {
		t.Error(n)
	}
}
