package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

func timeout(ms int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.ConsumerTimeout = ms }
}

func timeoutOf(ms int64) func(*mail.Consume) {
	return func(m *mail.Consume) { m.Arguments = m.Arguments.Set("x-consumer-timeout", ms) }
}

// returned takes the numbers of returned deliveries that a channel was notified of.
func (c *core) returned() (numbers []uint64) {
	for _, m := range all[*mail.DeliveriesRequeued](c) {
		for _, r := range m.Numbers {
			for n := r.First; n <= r.Last; n++ {
				if !m.Covers(n) {
					c.t.Errorf("%d is not covered", n)
				}
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}

// TestConsumerTimeout_ADR10: a delivery that is not settled in time is requeued at its position, the consumer is notified, and
// another consumer gets it.
func TestConsumerTimeout_ADR10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 2)
	c.put("1", "2", "3")
	c.want("a", c.delivered("a"), "1", "2")
	c.at(400)
	c.settle(ch1, mail.Ack, 1, 1)
	c.want("a", c.delivered("a"), "3") // its deadline is at 1400
	c.at(999)
	if n := len(c.returned()); n != 0 {
		t.Fatalf("%d came back early", n)
	}
	c.at(1000)
	c.wantNumbers("back", c.returned(), 2)
	if m := one[*mail.ConsumerCancelled](c); m.Tag != "a" {
		t.Errorf("%+v", m)
	}
	c.want("ready", c.ready(), "2")
	c.consume(ch2, "b", 0)
	c.want("b", c.delivered("b"), "2*")
	c.settle(ch1, mail.Ack, 2, 3) // 2 is late, 3 is not
	if c.Counts.Late != 1 || c.Counts.TimedOut != 1 || c.Counts.Ack != 2 || c.consumers.Unacked() != 1 {
		t.Errorf("%+v, %d unacknowledged", c.Counts, c.consumers.Unacked())
	}
	c.settle(ch2, mail.Ack, 1, 1)
	c.at(10_000)
	if len(c.returned()) != 0 || c.Backlog.Len() != 0 || c.deliveries.Timeouts.Len() != 0 {
		t.Error("something is left")
	}
}

// TestConsumerTimeoutEachOnItsOwn_ADR10: the other deliveries of a cancelled consumer keep their own deadlines, whether the queue
// or the client cancelled it.
func TestConsumerTimeoutEachOnItsOwn_ADR10(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.consume(ch1, "a", 0)
	c.put("1")
	c.at(500)
	c.put("2")
	c.consume(ch2, "b", 0)
	c.put("3", "4") // one for each consumer
	c.feed(&mail.CancelConsumer{Channel: ch2, Tag: "b"})
	all[*mail.Deliver](c)
	c.at(1000)
	c.wantNumbers("a", c.returned(), 1)
	one[*mail.ConsumerCancelled](c)
	c.want("ready", c.ready(), "1")
	c.at(1500)
	c.wantNumbers("the others", c.returned(), 2, 3, 1)
	if n := len(all[*mail.ConsumerCancelled](c)); n != 0 {
		t.Errorf("%d were cancelled twice", n)
	}
	c.want("ready", c.ready(), "1", "2", "3", "4")
}

// TestConsumerTimeoutOrder_POL8: the consumer's timeout takes precedence over the queue's; basic.get has the queue's.
func TestConsumerTimeoutOrder_POL8(t *testing.T) {
	for _, x := range []struct {
		queue, own, want int64 // -1: never
	}{{-1, -1, -1}, {-1, 50, 50}, {70, -1, 70}, {70, 50, 50}, {50, 70, 70}, {70, 0, 70}} {
		c := newCore(t, timeout(x.queue))
		change := func(*mail.Consume) {}
		if x.own >= 0 {
			change = timeoutOf(x.own)
		}
		c.consume(ch1, "a", 0, change)
		c.put("1")
		c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}, Consumers: true})
		if got := one[*mail.QueueInfo](c).List[0].Timeout; got != x.want {
			t.Errorf("%+v: described as %d", x, got)
		}
		c.at(1000)
		c.at(x.want - 1)
		if n := c.ms(); x.want < 0 && len(c.returned()) > 0 || x.want >= 0 && len(c.returned()) != 1 {
			t.Errorf("%+v: at %d", x, n)
		}
	}
	c := newCore(t, timeout(50))
	c.put("1")
	c.get(ch1)
	c.at(50)
	c.wantNumbers("got", c.returned(), 1)
	c.want("ready", c.ready(), "1")
}

// TestConsumerTimeoutFixed_ADR10: a delivery keeps the timeout in force when it was made.
func TestConsumerTimeoutFixed_ADR10(t *testing.T) {
	c := newCore(t, timeout(100))
	c.consume(ch1, "a", 0)
	c.put("1")
	c.feed(&mail.Configure{Settings: settings(timeout(1000))})
	c.put("2")
	c.at(100)
	c.wantNumbers("the first", c.returned(), 1)
	c.feed(&mail.Configure{Settings: settings()})
	c.at(1000)
	c.wantNumbers("the second", c.returned(), 2)
}

// TestConsumerTimeoutWithoutAcks_ADR10: a consumer without acknowledgements has no timeout.
func TestConsumerTimeoutWithoutAcks_ADR10(t *testing.T) {
	c := newCore(t, timeout(1))
	c.consume(ch1, "a", 0, noAck)
	c.put("1")
	if c.at(10); c.consumers.Len() != 1 || c.deliveries.Timeouts != nil {
		t.Error("cancelled")
	}
}

// TestConsumerTimeoutExpired_TTL22: a message requeued past its deadline expires at once, one with a later deadline expires then.
func TestConsumerTimeoutExpired_TTL22(t *testing.T) {
	c := newCore(t, timeout(100), dlx)
	c.consume(ch1, "a", 0)
	c.publish(msg("1", 50), msg("2", 150))
	c.at(100)
	c.want("dead", c.seenOff(), "expired 1")
	c.at(150)
	c.want("dead", c.seenOff(), "expired 2")
}

// TestConsumerTimeoutRetroactive_TTL25: the sweep over messages whose TTL changes does not affect the timeouts of unacked ones.
func TestConsumerTimeoutRetroactive_TTL25(t *testing.T) {
	c := newCore(t, timeout(100))
	c.consume(ch1, "a", 0)
	c.put("1", "2")
	c.feed(&mail.Configure{Settings: settings(timeout(100), ttl(150), func(s *policies.QueueSettings) { s.RetroactiveTTL = true })})
	c.at(100)
	c.wantNumbers("back", c.returned(), 1, 2)
	c.at(149)
	c.want("ready", c.ready(), "1", "2")
	c.at(150)
	c.want("expired", c.ready())
}

// TestConsumerTimeoutAutoDelete_LEASE10: the timeout of the last consumer ends an auto-delete queue.
func TestConsumerTimeoutAutoDelete_LEASE10(t *testing.T) {
	cfg := testConfig(settings(timeout(100)))
	cfg.Queue.AutoDelete = true
	c := newCoreOf(t, cfg)
	c.consume(ch1, "a", 0)
	c.put("1")
	c.at(100)
	one[*mail.QueueRetiring](c)
}

// TestConsumerTimeoutLease_LEASE4: the lease of the queue counts from the timeout of its last consumer.
func TestConsumerTimeoutLease_LEASE4(t *testing.T) {
	c := newCore(t, timeout(100), expires(50))
	c.consume(ch1, "a", 0)
	c.put("1")
	c.at(149)
	if c.phase != live {
		t.Fatal("gone early")
	}
	c.at(150)
	one[*mail.QueueRetiring](c)
}

// TestConsumerTimeoutActive_DEC11: the next consumer becomes active, and gets the requeued message.
func TestConsumerTimeoutActive_DEC11(t *testing.T) {
	c := newCore(t, timeout(100), single)
	c.consume(ch1, "a", 1)
	c.consume(ch2, "b", 1)
	c.put("1")
	c.want("a", c.delivered("a"), "1")
	c.at(100)
	c.want("b", c.delivered("b"), "1*")
}

// TestConsumerTimeoutTurns: a turn requeues at most TurnLimit of the deliveries that time out together.
func TestConsumerTimeoutTurns(t *testing.T) {
	c := newCore(t, timeout(100))
	c.put(bodies(1, 2*messages.TurnLimit+10)...)
	for range 2*messages.TurnLimit + 10 {
		c.get(ch1)
	}
	c.slow, c.waiting = true, true
	c.now += clock.Instant(100 * time.Millisecond)
	total := 0
	for c.waiting {
		c.waiting = false
		c.turn(again{})
		n := len(c.returned())
		if total += n; n > messages.TurnLimit {
			t.Fatalf("%d in one turn", n)
		}
	}
	if total != 2*messages.TurnLimit+10 || c.Backlog.Ready() != total {
		t.Errorf("%d came back, %d are ready", total, c.Backlog.Ready())
	}
}

// TestConsumerTimeoutModel_ADR10: with random settlements, every delivery ends once, by a settlement or on time by its timeout.
func TestConsumerTimeoutModel_ADR10(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := newCore(t, timeout(40))
	type delivered struct{ until, number int64 }
	open := map[int64]delivered{}
	for i := range 3000 {
		c.put(fmt.Sprint(i))
		if g := c.get(ch1); !g.Empty {
			n := int64(g.Delivery.Number)
			open[n] = delivered{c.ms() + 40, n}
		}
		if r.IntN(2) == 0 && len(open) > 0 {
			for n := range open {
				c.settle(ch1, mail.Settlement(r.IntN(3)), uint64(n), uint64(n))
				delete(open, n)
				break
			}
		}
		c.at(c.ms() + r.Int64N(5))
		back := c.returned()
		for n, x := range open {
			if over := x.until <= c.ms(); over != slices.Contains(back, uint64(n)) {
				t.Fatalf("%d ms: %d was due at %d", c.ms(), n, x.until)
			} else if over {
				delete(open, n)
			}
		}
		if c.deliveries.Timeouts.Len() != len(open) || c.consumers.Unacked() != len(open) {
			t.Fatalf("%d timeouts, want %d", c.deliveries.Timeouts.Len(), len(open))
		}
	}
	if c.Counts.Late != 0 {
		t.Errorf("%d were late", c.Counts.Late)
	}
}
