package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

func facts(m *mail.Consume) { m.Facts = true }
func stays(m *mail.Consume) { m.Stays = true }

// TestFacts_LOCK3: consumers that ask for facts get the number, enqueue time, expiry, lock and delivery count; others do not.
func TestFacts_LOCK3(t *testing.T) {
	c := newCore(t, timeout(5000))
	c.Dates = clock.Ahead(7)
	c.consume(ch2, "other", 0)
	c.put("first")
	if d := c.deliveries1(); d.Facts != nil {
		t.Errorf("%+v for who did not ask", d.Facts)
	}
	c.feed(&mail.CancelConsumer{Channel: ch2, Tag: "other"})
	c.at(100)
	c.consume(ch1, "a", 1, facts, timeoutOf(3000))
	c.publish(msg("second", 9000))
	want := mail.Facts{Seq: 2, Enqueued: start + 107, Expires: start + 9107, Locked: start + 3107}
	check := func(f *mail.Facts) (lock uint64) {
		t.Helper()
		got := *f
		lock, got.Lock = got.Lock, 0
		if got != want || lock == 0 {
			t.Errorf("%+v, want %+v", got, want)
		}
		return lock
	}
	d := c.deliveries1()
	lock := check(d.Facts)
	c.at(200)
	c.settle(ch1, mail.Requeue, d.Number, d.Number)
	want.DeliveryCount, want.Locked = 1, start+3207
	if again := check(c.deliveries1().Facts); again == lock {
		t.Error("two deliveries have the same lock")
	}
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.feed(&mail.Get{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Connection: owner, Facts: true})
	want.DeliveryCount, want.Locked = 2, start+5207
	check(one[*mail.GetReply](c).Delivery.Facts)
	c.consume(ch2, "none", 0, facts, noAck)
	c.publish(msg("third", -1), msg("fourth", -1))
	for i, d := range one[*mail.Deliver](c).Items { // they were passed on without being kept
		if *d.Facts != (mail.Facts{Seq: uint64(3 + i), Enqueued: start + 207}) {
			t.Errorf("%+v", d.Facts)
		}
	}
}

// TestNumberedConfirms_LOCK3: a publisher that asks for numbers gets them with the confirms; messages that the queue does not
// keep have number 0.
func TestNumberedConfirms_LOCK3(t *testing.T) {
	cfg := testConfig(settings(maxLength(4, "reject-publish")))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.put("0")
	all[*mail.EnqueueReply](c)
	e := &mail.Enqueue{From: publisher, Numbered: true}
	for i, m := range []message.Message{msg("1", -1), msg("2", -1), msg("never", 0), msg("3", -1), msg("over", -1)} {
		setPersistent(&m, i == 1)
		m.Number = uint64(10 + i)
		e.Messages = append(e.Messages, m)
	}
	c.feed(e)
	got := map[uint64]uint64{}
	for _, r := range all[*mail.EnqueueReply](c) {
		i := 0
		for _, x := range r.Ranges {
			for n := x.First; n <= x.Last && !r.Refused; n++ {
				got[n] = r.Seqs[i]
				i++
			}
		}
		if i != len(r.Seqs) {
			t.Errorf("%+v", r)
		}
	}
	if fmt.Sprint(got) != "map[10:2 11:3 12:0 13:4]" {
		t.Errorf("%v", got)
	}
}

// TestStays_LOCK4: a consumer that asked to stay is notified at the timeout of its delivery, and not before, that it was requeued
// and counted, and gets the next one.
func TestStays_LOCK4(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 1, stays, facts)
	c.put("1", "2")
	d := c.deliveries1()
	c.at(999)
	c.wantNumbers("early", c.returned())
	c.at(1000)
	c.wantNumbers("back", c.returned(), d.Number)
	if n := len(all[*mail.ConsumerCancelled](c)); n != 0 || c.consumers.Len() != 1 {
		t.Fatalf("%d cancelled, %d consumers", n, c.consumers.Len())
	}
	again := c.deliveries1()
	if text(again) != "1*" || again.Facts.DeliveryCount != 1 || again.Facts.Locked != start+2000 {
		t.Errorf("%s, %+v", text(again), again.Facts)
	}
}

// TestRenewedByLock_LOCK5_Several: all locks of a request are renewed in one pass, each once even if it is named twice.
func TestRenewedByLock_LOCK5_Several(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 3, stays, facts)
	c.put("1", "2", "3")
	var locks []mail.Lock
	for _, it := range c.items() {
		locks = append(locks, mail.Lock{Seq: it.Facts.Seq, Lock: it.Facts.Lock})
	}
	c.at(600)
	asked := []mail.Lock{locks[0], locks[2], locks[0], locks[2], {Seq: locks[1].Seq, Lock: locks[1].Lock + 1}}
	c.feed(&mail.RenewLock{Request: mail.Request{ReplyTo: ch1}, Locks: asked})
	r := one[*mail.RenewLockReply](c)
	if r.Count != 2 || len(r.Until) != 2 || r.Until[locks[0]] != start+1600 || r.Until[locks[2]] != start+1600 {
		t.Errorf("%+v", r)
	}
	c.at(1000)
	c.wantNumbers("the other one", c.returned(), 2)
}

// TestRenewedByLock_LOCK5: a lock can be renewed by its token until it ends, not afterwards.
func TestRenewedByLock_LOCK5(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 1, stays, facts)
	c.put("1")
	f := c.deliveries1().Facts
	renew := func(lock uint64, count int, until int64) {
		t.Helper()
		if n, at := c.renews(mail.RenewLock{Locks: []mail.Lock{{Seq: f.Seq, Lock: lock}}}); n != count || at != until {
			t.Errorf("%d until %d, want %d until %d", n, at, count, until)
		}
	}
	c.at(600)
	renew(f.Lock, 1, 1600)
	renew(f.Lock+1, 0, 0)
	c.at(1599)
	renew(f.Lock, 1, 2599)
	c.at(2599)
	renew(f.Lock, 0, 0)
	old := f.Lock
	f = c.deliveries1().Facts
	renew(old, 0, 0)
	renew(f.Lock, 1, 3599)
	c.settle(ch1, mail.Ack, 2, 2)
	renew(f.Lock, 0, 0)
}

// TestPeekByNumber_LOCK6: paging shows each message once, in the order of the numbers, for any state, priority and
// position.
func TestPeekByNumber_LOCK6(t *testing.T) {
	seeded(t, 20, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := newCore(t, delaying, func(s *policies.QueueSettings) { s.MaxPriority = uint8(rng.IntN(3)) })
		c.turnLimit = uint16(1 + rng.IntN(5))
		for i := range 300 {
			m := msg(fmt.Sprint(i), -1)
			if m.Priority = uint8(rng.IntN(3)); rng.IntN(3) == 0 && seed%3 > 0 {
				m = heldBack(fmt.Sprint(i), 1+rng.Int64N(1000))
			}
			c.publish(m)
			switch rng.IntN(6) {
			case 0:
				c.get(ch1)
			case 1:
				n := 1 + rng.Uint64N(20)
				c.settle(ch1, []mail.Settlement{mail.Requeue, mail.Ack}[rng.IntN(2)], n, n)
			case 2:
				c.at(c.ms() + rng.Int64N(20))
			}
		}
		var want, got []uint64
		for _, m := range c.peek(mail.Peek{}).Messages {
			want = append(want, m.Seq)
		}
		slices.Sort(want)
		for after, n := uint64(0), 0; ; n++ {
			limit := 1 + rng.IntN(40)
			r := c.peek(mail.Peek{ByNumber: true, After: mail.Cursor{Seq: after}, Limit: limit})
			if len(r.Messages) > limit || n > 400 {
				t.Fatalf("%d messages, %d pages", len(r.Messages), n)
			}
			for _, m := range r.Messages {
				got = append(got, m.Seq)
			}
			if r.Next == nil {
				break
			}
			after = r.Next.Seq
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		var scheduled, locked int
		for _, m := range c.peek(mail.Peek{ByNumber: true, States: mail.Unacked | mail.Scheduled}).Messages {
			if m.State == mail.Scheduled {
				scheduled++
			} else {
				locked++
			}
		}
		if scheduled != c.Scheduled.Len() || locked != c.consumers.Unacked() {
			t.Errorf("%d scheduled of %d, %d locked of %d", scheduled, c.Scheduled.Len(), locked, c.consumers.Unacked())
		}
	})
}
