package queue

import (
	"math/rand/v2"
	"testing"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/policies/retry"
)

// wantOldest checks since when the oldest ready message waits, and the oldest of all, in ms since the start; -1 for none.
func (c *core) wantOldest(what string, ready, message int64) {
	c.t.Helper()
	since := func(ms int64) int64 { return max(ms-start, -1) }
	for _, o := range []mail.Oldest{c.info().OldestReady, c.info().OldestMessage} {
		if o.Since != 0 && o.Age != c.now.Floor()-o.Since || o.Since == 0 && o.Age != 0 {
			c.t.Errorf("%d ms: %s: %+v", c.ms(), what, o)
		}
	}
	info, n := c.info(), c.figures().values
	published := n[queuestats.OldestReady]
	if r, m := since(info.OldestReady.Since), since(info.OldestMessage.Since); r != ready || m != message || since(published) != ready {
		c.t.Errorf("%d ms: %s: ready since %d, published %d, all since %d; want %d, %d", c.ms(), what, r, since(published), m, ready, message)
	}
}

// TestAge_AGE1: the age of a message starts when it becomes available in the queue, and continues when it is requeued,
// paged out, and while the broker is down.
func TestAge_AGE1(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying, timeout(50_000))
		c.pressed = func() bool { return pressed }
		c.wantOldest("empty", -1, -1)
		c.publish(heldBack("due", 500))
		c.wantOldest("scheduled", -1, -1)
		c.at(600)
		c.wantOldest("released", 500, 500)
		c.at(1000)
		c.trust(-1, "published")
		c.feed(&mail.Enqueue{From: deadLetterPID, Moved: true, Messages: []message.Message{persistentMsg("dead-lettered", -1)}})
		c.wantOldest("behind it", 500, 500)
		c = c.restarted(10_000, delaying, timeout(50_000))
		c.wantOldest("restarted", 500, 500)
		c.consume(ch1, "a", 1)
		c.wantOldest("delivered", 1000, 500)
		c.at(20_000)
		c.settle(ch1, mail.Requeue, 1, 1)
		c.feed(&mail.ChannelGone{Channel: ch1})
		c.wantOldest("requeued", 500, 500)
		for _, since := range []int64{1000, 1000, -1} {
			number := c.get(ch2).Delivery.Number
			c.settle(ch2, mail.Ack, number, number)
			c.wantOldest("got", since, since)
		}
	}
}

// TestAge_AGE2: the head of each priority counts; scheduled, deferred, postponed and forwarded messages do not.
func TestAge_AGE2(t *testing.T) {
	c := newCore(t, priorities(5), retries(retry.Settings{Failed: true, Min: 1000, Max: 1000}))
	low, high := msg("low", -1), msg("high", -1)
	high.Priority = 5
	c.publish(low)
	c.at(10)
	c.publish(high)
	c.wantOldest("the lower priority is older", 0, 0)
	c.at(20)
	c.put("last")
	number := c.get(ch1).Delivery.Number // high
	c.get(ch1)                           // low
	c.wantOldest("both unacked", 20, 0)
	c.settle(ch1, mail.Defer, number+1, number+1)
	c.wantOldest("the older one deferred", 20, 10)
	c.settle(ch1, mail.Reject, number, number) // requeue=false
	c.wantOldest("the other one gone", 20, 20)
	number = c.get(ch1).Delivery.Number
	c.settle(ch1, mail.Requeue, number, number)
	c.wantOldest("postponed", -1, -1)
	c.at(1020)
	c.wantOldest("ready again", 20, 20)

	c = durableCore(t, forwardTo)
	c.put("1")
	c.wantOldest("forwarded", -1, -1)
	c = durableCore(t)
	c.put("1")
	c.get(ch1)
	c.at(5)
	c.feed(&mail.Configure{Settings: settings(forwardTo)})
	c.put("2")
	c.wantOldest("one forwarded, one unacked", -1, 0)
	_, ids := c.moved()
	c.keep(ids...)
	c.feed(&mail.Configure{Settings: settings()})
	c.wantOldest("not forwarded any more", 5, 0)
}

// TestAge_Skew: dates follow the machine's clock, the published time is the broker's.
func TestAge_Skew(t *testing.T) {
	c := newCore(t)
	c.put("1")
	c.at(5)
	c.Dates = clock.Ahead(7000)
	info, n := c.info(), c.figures().values
	if info.OldestReady != (mail.Oldest{Since: start + 7000, Age: 5}) || info.OldestMessage != info.OldestReady || n[queuestats.OldestReady] != start {
		t.Errorf("%+v", info)
	}
}

// times returns the numbers of times by their bounds in ms, as "wait" and "processing".
func (c *core) wantTimes(what string, wait, processing map[float64]uint64) {
	c.t.Helper()
	info := c.info()
	for name, x := range map[string]struct {
		got  *metrics.SpanSummary
		want map[float64]uint64
	}{"wait": {info.Wait, wait}, "processing": {info.Processing, processing}} {
		total := uint64(0)
		for _, n := range x.want {
			total += n
		}
		if x.got == nil {
			if total > 0 {
				c.t.Errorf("%s: no %s", what, name)
			}
			continue
		}
		for i, bound := range x.got.Bounds {
			if n := x.want[bound*1000]; x.got.Counts[i] != n {
				c.t.Errorf("%s: %s up to %v ms: %d, want %d", what, name, bound*1000, x.got.Counts[i], n)
			}
		}
		if x.got.Count() != total {
			c.t.Errorf("%s: %s: %d, want %d", what, name, x.got.Count(), total)
		}
	}
}

type counts = map[float64]uint64

// TestWait_AGE3: a message waits from being available to its first delivery, to a consumer or basic.get; a direct delivery did
// not wait.
func TestWait_AGE3(t *testing.T) {
	c := newCore(t, delaying)
	c.put("1", "2", "3")
	c.publish(heldBack("due", 500))
	c.wantTimes("nothing", nil, nil)
	c.at(40)
	c.get(ch1)
	c.wantTimes("got", counts{50: 1}, nil)
	c.at(400)
	c.consume(ch2, "a", 1)
	c.wantTimes("consumed", counts{50: 1, 500: 1}, nil)
	c.settle(ch2, mail.Requeue, 1, 1)
	c.wantTimes("redelivered", counts{50: 1, 500: 1}, counts{1: 1})
	c.feed(&mail.ChannelGone{Channel: ch2}, &mail.ChannelGone{Channel: ch1})
	c.consume(ch1, "b", 0, noAck)
	c.wantTimes("others", counts{50: 1, 500: 2}, counts{1: 2, 500: 1})
	c.at(700)
	c.wantTimes("released at its time", counts{50: 1, 500: 2, 1: 1}, counts{1: 2, 500: 1})
	c.put("direct", "direct")
	c.wantTimes("direct", counts{50: 1, 500: 2, 1: 3}, counts{1: 2, 500: 1})
}

// TestProcessing_AGE3: a delivery is processed until it is acknowledged, rejected or returned, by its consumer or not; moves
// process nothing.
func TestProcessing_AGE3(t *testing.T) {
	for name, end := range map[string]func(c *core){
		"ack":          func(c *core) { c.settle(ch1, mail.Ack, 1, 1) },
		"reject":       func(c *core) { c.settle(ch1, mail.Reject, 1, 1) },
		"requeue":      func(c *core) { c.settle(ch1, mail.Requeue, 1, 1) },
		"release":      func(c *core) { c.settle(ch1, mail.Release, 1, 1) },
		"defer":        func(c *core) { c.settle(ch1, mail.Defer, 1, 1) },
		"channel gone": func(c *core) { c.feed(&mail.ChannelGone{Channel: ch1}) },
		"taken back":   func(c *core) { c.takeBack(1) },
		"time-out":     func(c *core) { c.at(4000) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(t, func(s *policies.QueueSettings) {
				if name == "time-out" {
					s.ConsumerTimeout = 4000
				}
			})
			c.consume(ch1, "a", 0, stays)
			c.put("1")
			c.feed(&mail.QosLimited{Channel: ch1})
			c.at(3999)
			c.wantTimes("in hand", counts{1: 1}, nil)
			end(c)
			if got := c.info().Processing; got == nil || got.Count() < 1 || got.Counts[7] < 1 { // up to 5 s
				t.Errorf("%+v", got)
			}
		})
	}
	c := newCore(t)
	c.put("1", "2")
	c.feed(&mail.Claim{Request: mail.Request{ReplyTo: ch1}, Limit: 2})
	c.at(70)
	c.settle(ch1, mail.Ack, 1, 1)
	c.settle(ch1, mail.PutBack, 2, 2)
	c.wantTimes("moved", nil, nil)
	c.at(80)
	c.get(ch2)
	c.wantTimes("put back by a move", counts{100: 1}, nil)
}

// TestAge_AGE7: a purge, and the sleep of a queue, keep the histograms; a purge ends all ages.
func TestAge_AGE7(t *testing.T) {
	c := newCore(t)
	c.put("1", "2")
	c.at(40)
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 1)
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.wantOldest("purged", -1, -1)
	c.makeDormant()
	c.wantTimes("after a sleep", counts{50: 1}, counts{1: 1})
}

// TestAges_Random: the oldest ready message, and the oldest of all, are the ones that a walk over all messages finds.
func TestAges_Random(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 20 {
		c := durableCore(t, delaying, priorities(uint8(rng.IntN(3))), func(s *policies.QueueSettings) { s.MessageTTL = 5000 })
		c.pressed = func() bool { return rng.IntN(3) == 0 }
		held := map[uint64]bool{}
		for step := range int64(200) {
			c.at(step * 17)
			m := msg("m", -1)
			if rng.IntN(4) == 0 {
				m = heldBack("m", rng.Int64N(400))
			}
			m.Priority = byte(rng.IntN(3))
			c.publish(m)
			if rng.IntN(2) == 0 {
				if d := c.get(ch1); !d.Empty {
					held[d.Delivery.Number] = true
				}
			}
			for n := range held {
				if rng.IntN(3) == 0 {
					c.settle(ch1, []mail.Settlement{mail.Ack, mail.Requeue, mail.Defer, mail.Reject}[rng.IntN(4)], n, n)
					delete(held, n)
					break
				}
			}
			ready, oldest := c.oldest()
			c.wantOldest("walked", ready, oldest)
		}
	}
}

// oldest finds the times of AGE-2 by a walk over all messages.
func (c *core) oldest() (ready, message int64) {
	ready, message = -1, -1
	see := func(h uint32, at *int64) {
		since, _ := c.Backlog.Times(h)
		if since -= start; *at < 0 || since < *at {
			*at = since
		}
	}
	for h := range c.Backlog.Walk {
		see(h, &ready)
	}
	message = ready
	for _, d := range c.locks(0, 0).Deliveries {
		c.Backlog.Sweep(1, messages.TurnLimit*1000, func(h uint32) {
			if c.Backlog.Seq(h) == d.Seq {
				see(h, &message)
			}
		})
	}
	return ready, message
}
