package queue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// TestDeadline_TTL9_TTL10: the deadline is the enqueue time plus the lower of the queue's and the message's TTL, rounded up
// (TTL-9, TTL-10).
func TestDeadline_TTL9_TTL10(t *testing.T) {
	tests := []struct {
		queue, own, want int64 // ms; -1 for none
	}{
		{-1, -1, -1},
		{1000, -1, 1000},
		{-1, 300, 300},
		{1000, 300, 300},
		{300, 1000, 300},
		{0, 300, 0},
		{300, 0, 0},
		{315_360_000_000, -1, 315_360_000_000},
		{-1, 1, 1},
		{math.MaxInt64, -1, -1},
		{math.MaxInt64 - start, -1, -1},
	}
	for _, tt := range tests {
		c := newCore(t, ttl(tt.queue))
		m := msg("m", tt.own)
		want := start + tt.want
		if tt.want < 0 {
			want = store.Never
		}
		if got := c.Expiry.Deadline(m.TTL, c.now); got != want {
			t.Errorf("queue %d, message %d: %d after the start, want %d", tt.queue, tt.own, got-start, tt.want)
		}
	}
}

func TestDeadlineIsNeverEarly_TTL9_TTL14_TTL31(t *testing.T) {
	c := newCore(t)
	c.now += clock.Instant(300 * time.Microsecond) // 0.3 ms: the deadline is 101 ms, not 100
	c.publish(msg("m", 100))
	c.now = clock.Instant((start+101)*int64(time.Millisecond) - 1)
	c.feed(timerFired{})
	c.want("1 ns before the deadline", c.ready(), "m")
	c.now++
	c.feed(timerFired{})
	c.want("at the deadline", c.ready())
}

// TestEachCopyOnItsOwn_TTL13: each queue computes its own deadline for its copy.
func TestEachCopyOnItsOwn_TTL13(t *testing.T) {
	m := msg("m", message.NoTTL)
	a, b := newCore(t, ttl(10)), newCore(t)
	for _, c := range []*core{a, b} {
		c.publish(m)
		c.at(50)
	}
	a.want("with TTL", a.ready())
	b.want("without", b.ready(), "m")
}

func TestExpirationIsDeliveredUnchanged_TTL11(t *testing.T) {
	c := newCore(t)
	header := protocolHeader("5000")
	m := msg("m", 5000)
	m.Header = header
	c.publish(m)
	c.at(1000)
	r := c.get(ch1)
	if string(r.Delivery.Message.Header) != string(header) || r.Delivery.Message.TTL != 5000 {
		t.Fatalf("header %x, TTL %d", r.Delivery.Message.Header, r.Delivery.Message.TTL)
	}
}

// protocolHeader is a raw property list with an expiration only.
func protocolHeader(expiration string) []byte {
	return append([]byte{0x01, 0x00, byte(len(expiration))}, expiration...)
}

// TestDeadlineFromEnqueue_TTL12: the TTL starts in the queue's turn, not when the message was created.
func TestDeadlineFromEnqueue_TTL12(t *testing.T) {
	c := newCore(t)
	m := msg("m", 300)
	c.at(500)
	c.publish(m)
	c.at(799)
	c.want("299 ms after it was enqueued", c.ready(), "m")
	c.at(800)
	c.want("300 ms after", c.ready())
}

func TestUnackedDoesNotExpire_TTL15_TTL32(t *testing.T) {
	c := newCore(t, ttl(100), dlx)
	c.consume(ch1, "a", 1)
	c.put("m")
	c.want("delivered", c.delivered("a"), "m")
	c.at(10_000)
	c.settle(ch1, mail.Ack, 1, 1)
	c.want("dead", c.seenOff())
	if c.Backlog.Len() != 0 {
		t.Fatalf("%d messages left", c.Backlog.Len())
	}
}

func TestRequeue_TTL16_TTL32(t *testing.T) {
	returns := map[string]func(c *core){
		"nack":         func(c *core) { c.settle(ch1, mail.Requeue, 1, 1) },
		"channel gone": func(c *core) { c.feed(&mail.ChannelGone{Channel: ch1}) },
		"channel died": func(c *core) { c.feed(&mail.PeerGone{Who: ch1}) },
	}
	for name, giveBack := range returns {
		t.Run(name+" before the deadline", func(t *testing.T) {
			c := newCore(t, dlx)
			c.publish(msg("a", 100), msg("b", message.NoTTL))
			c.get(ch1)
			c.at(60)
			giveBack(c)
			c.want("original position", c.ready(), "a", "b")
			c.at(99)
			c.want("original deadline, 1 ms before", c.ready(), "a", "b")
			c.at(100)
			c.want("original deadline", c.ready(), "b")
			c.want("dead", c.seenOff(), "expired a")
		})
		t.Run(name+" after the deadline", func(t *testing.T) {
			c := newCore(t, dlx)
			c.publish(msg("a", 100), msg("b", message.NoTTL))
			c.get(ch1)
			c.at(100)
			giveBack(c)
			c.want("ready", c.ready(), "b")
			c.want("dead", c.seenOff(), "expired a")
		})
	}
}

// TestHandOver_TTL17: no message is delivered after its deadline, even if the timer is late.
func TestHandOver_TTL17(t *testing.T) {
	late := func(t *testing.T) *core {
		c := newCore(t, dlx)
		c.publish(msg("a", 100), msg("b", message.NoTTL), msg("c", 100))
		c.now += clock.Instant(150 * time.Millisecond) // without timerFired
		return c
	}
	t.Run("get", func(t *testing.T) {
		c := late(t)
		r := c.get(ch1)
		if r.Empty || text(r.Delivery) != "b" || r.MessageCount != 0 {
			t.Fatalf("got %q, %d left", r.Delivery.Message.Body, r.MessageCount)
		}
		c.want("dead", c.seenOff(), "expired a", "expired c")
	})
	t.Run("deliver", func(t *testing.T) {
		c := late(t)
		c.consume(ch1, "x", 0)
		c.want("delivered", c.delivered("x"), "b")
		c.at(150)
		c.want("dead", c.seenOff(), "expired a", "expired c")
	})
	t.Run("deliver in strict mode", func(t *testing.T) {
		c := newCore(t, dlx, strict)
		c.publish(msg("a", 100), msg("b", message.NoTTL), msg("c", 100))
		c.now += clock.Instant(150 * time.Millisecond)
		c.consume(ch1, "x", 0)
		c.want("delivered", c.delivered("x"), "b")
	})
}

// TestGetCountExcludesExpired_TTL18: in strict mode, too, messages that become the head by the get are checked before the reply.
func TestGetCountExcludesExpired_TTL18(t *testing.T) {
	for _, mode := range []string{"eager", "strict"} {
		c := newCore(t)
		c.Settings.StrictExpiry = mode == "strict"
		c.publish(msg("a", message.NoTTL), msg("b", 10), msg("c", message.NoTTL))
		c.at(20)
		if r := c.get(ch1); text(r.Delivery) != "a" || r.MessageCount != 1 {
			t.Errorf("%s: %s, %d left", mode, text(r.Delivery), r.MessageCount)
		}
	}
}

// TestDeclareCountExcludesExpired_TTL30: expired messages are not counted, even while the timer is late.
func TestDeclareCountExcludesExpired_TTL30(t *testing.T) {
	c := newCore(t)
	c.publish(msg("a", message.NoTTL), msg("b", 10), msg("c", message.NoTTL))
	c.now += clock.Instant(20 * time.Millisecond)
	c.feed(redeclare(passive))
	if n := one[*mail.DeclareQueueReply](c).MessageCount; n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestEagerOrder_TTL30: messages expire by deadline, at any position and behind any messages.
func TestEagerOrder_TTL30(t *testing.T) {
	c := newCore(t, dlx)
	c.publish(msg("600", 600), msg("100", 100), msg("never", message.NoTTL), msg("300", 300))
	for _, step := range []struct {
		at   int64
		dead []string
	}{{99, nil}, {100, []string{"expired 100"}}, {299, nil}, {300, []string{"expired 300"}}, {600, []string{"expired 600"}}} {
		c.at(step.at)
		c.want("dead", c.seenOff(), step.dead...)
	}
	c.want("ready", c.ready(), "never")
}

func TestPriorities_TTL30(t *testing.T) {
	c := newCore(t, dlx)
	c.Settings.MaxPriority = 5
	high, low, above := msg("high", message.NoTTL), msg("low", 10), msg("above", message.NoTTL)
	high.Priority, above.Priority = 5, 9
	c.publish(low, msg("zero", message.NoTTL), high, above)
	c.want("order", c.ready(), "high", "above", "low", "zero")
	c.at(10)
	c.want("behind higher ones", c.seenOff(), "expired low")
}

// TestEqualDeadlines_TTL31: messages with equal deadlines expire in queue order, including requeued ones.
func TestEqualDeadlines_TTL31(t *testing.T) {
	c := newCore(t, dlx, ttl(100))
	c.put("a", "b", "c", "d")
	c.get(ch1)
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 2, 2)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.at(100)
	c.want("dead", c.seenOff(), "expired a", "expired b", "expired c", "expired d")
}

// own returns a message with a TTL of 0.
func own(body string) message.Message { return msg(body, 0) }

func TestTTL0_TTL20(t *testing.T) {
	t.Run("TTL-20 nobody: expires", func(t *testing.T) {
		c := newCore(t, dlx)
		c.publish(own("m"))
		c.want("dead", c.seenOff(), "expired m")
	})
	t.Run("TTL-20 nobody, no exchange: dropped", func(t *testing.T) {
		c := newCore(t)
		c.publish(own("m"))
		if c.Backlog.Len() != 0 || len(c.posts) != 1 {
			t.Fatalf("%d messages, %v", c.Backlog.Len(), c.posts)
		}
	})
	t.Run("TTL-20 by the queue's TTL", func(t *testing.T) {
		c := newCore(t, dlx, ttl(0))
		c.put("m")
		c.want("dead", c.seenOff(), "expired m")
	})
	t.Run("TTL-20 a consumer takes it", func(t *testing.T) {
		c := newCore(t, dlx)
		c.consume(ch1, "a", 1)
		c.publish(own("m"))
		c.want("delivered", c.delivered("a"), "m")
		c.want("dead", c.seenOff())
	})
	t.Run("TTL-20 without acknowledgement", func(t *testing.T) {
		c := newCore(t, dlx)
		c.consume(ch1, "a", 0, noAck)
		c.publish(own("m"))
		c.want("delivered", c.delivered("a"), "m")
	})
	t.Run("TTL-20 prefetch used up: expires", func(t *testing.T) {
		c := newCore(t, dlx)
		c.consume(ch1, "a", 1)
		c.publish(own("1"), own("2"))
		c.want("delivered", c.delivered("a"), "1")
		c.want("dead", c.seenOff(), "expired 2")
	})
}

func TestTTL0_TTL21_TTL22_TTL36(t *testing.T) {
	t.Run("TTL-21 TTL-28 confirmed", func(t *testing.T) {
		c := newCore(t)
		c.publish(own("m"))
		acks, nacks := c.confirmed()
		c.wantNumbers("acks", acks, 1)
		c.wantNumbers("nacks", nacks)
	})
	t.Run("TTL-21 never by get", func(t *testing.T) {
		c := newCore(t)
		c.publish(own("m"))
		if r := c.get(ch1); !r.Empty {
			t.Fatalf("got %s", text(r.Delivery))
		}
	})
	t.Run("TTL-22 requeued: expires", func(t *testing.T) {
		c := newCore(t, dlx)
		c.consume(ch1, "a", 1)
		c.publish(own("m"))
		c.want("delivered", c.delivered("a"), "m")
		c.settle(ch1, mail.Requeue, 1, 1)
		c.want("redelivered", c.delivered("a"))
		c.want("dead", c.seenOff(), "expired m")
	})
	t.Run("TTL-36 never on the wheel", func(t *testing.T) {
		c := newCore(t, dlx)
		c.consume(ch1, "a", 1)
		c.publish(own("1"), own("2"))
		if c.Expiry.Len() != 0 {
			t.Fatalf("%d on the wheel", c.Expiry.Len())
		}
	})
}

func TestExpiryIsHandled_TTL28(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	c.publish(persistentMsg("m", 10))
	c.at(20)
	c.want("ready", c.ready())
	acks, _ := c.confirmed()
	c.wantNumbers("before the journal has it", acks)
	c.settleCommit()
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1)
	c.wantNumbers("nacks", nacks)
}

// TestBoundedTurns_TTL33: many messages expire over several turns, with other mail in between.
func TestBoundedTurns_TTL33(t *testing.T) {
	const n = 3*messages.TurnLimit + 5
	fill := func(t *testing.T, c *core) {
		batch := make([]message.Message, n)
		for i := range batch {
			batch[i] = msg(fmt.Sprint(i), 100)
		}
		c.publish(batch...)
		c.put("last")
		c.slow = true
		c.now += clock.Instant(100 * time.Millisecond)
	}
	for _, mode := range []string{"eager", "strict"} {
		t.Run(mode, func(t *testing.T) {
			c := newCore(t)
			c.Settings.StrictExpiry = mode == "strict"
			fill(t, c)
			turns, before := 0, c.Backlog.Ready()
			for c.feed(timerFired{}); c.waiting; turns++ {
				if gone := before - c.Backlog.Ready(); gone > 2*messages.TurnLimit {
					t.Fatalf("%d in one turn", gone)
				}
				before, c.waiting = c.Backlog.Ready(), false
				c.feed(again{})
			}
			c.want("ready", c.ready(), "last")
			if turns < 2 {
				t.Fatalf("%d turns", turns)
			}
		})
	}
	t.Run("get asks again", func(t *testing.T) {
		c := newCore(t, strict)
		fill(t, c)
		m := &mail.Get{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, NoAck: true}
		for turns := 1; ; turns++ {
			c.feed(m)
			if back := all[*mail.Get](c); len(back) > 0 {
				continue
			}
			if r := one[*mail.GetReply](c); text(r.Delivery) != "last" || turns < 2 {
				t.Fatalf("%s after %d turns", text(r.Delivery), turns)
			}
			return
		}
	})
}

// TestStrict_TTL18: in strict mode [2000 ms, 200 ms] expire together, in queue order.
func TestStrict_TTL18(t *testing.T) {
	c := newCore(t, dlx, strict)
	c.publish(msg("a", 2000), msg("b", 200))
	c.at(700)
	c.want("ready", c.ready(), "a", "b")
	c.at(1999)
	c.want("ready", c.ready(), "a", "b")
	c.at(2000)
	c.want("ready", c.ready())
	c.want("dead", c.seenOff(), "expired a", "expired b")
}

func TestStrictTriggers_TTL18(t *testing.T) {
	triggers := map[string]func(c *core){
		"get":     func(c *core) { c.get(ch1) },
		"consume": func(c *core) { c.consume(ch1, "x", 1) },
		"reject":  func(c *core) { c.settle(ch2, mail.Reject, 1, 1) },
		"policy": func(c *core) {
			c.feed(&mail.Configure{Settings: settings(dlx, strict, maxLength(1, "drop-head"))})
		},
	}
	for name, trigger := range triggers {
		c := newCore(t, dlx, strict)
		if name == "reject" {
			c.publish(msg("held", message.NoTTL))
			c.get(ch2)
		}
		c.publish(msg("head", message.NoTTL), msg("b", 200), msg("c", message.NoTTL))
		c.at(700)
		c.want(name+": hidden behind the head", c.ready(), "head", "b", "c")
		trigger(c)
		if name == "reject" {
			c.get(ch2)
		}
		c.at(701)
		if slices.Contains(c.ready(), "b") {
			t.Errorf("%s: still there: %v", name, c.ready())
		}
	}
}

// TestStrictPriorities_TTL19: messages of lower priorities than the head's do not expire.
func TestStrictPriorities_TTL19(t *testing.T) {
	c := newCore(t, dlx, strict)
	c.Settings.MaxPriority = 2
	high := msg("high", message.NoTTL)
	high.Priority = 2
	c.publish(msg("low", 100), high)
	c.at(200)
	c.want("ready", c.ready(), "high", "low")
	c.get(ch1)
	c.at(201)
	c.want("dead", c.seenOff(), "expired low")
}

func TestStrictOnAndOff_TTL18(t *testing.T) {
	c := newCore(t, dlx)
	c.publish(msg("head", message.NoTTL), msg("b", 100), msg("c", 300))
	c.feed(&mail.Configure{Settings: settings(dlx, strict)})
	c.publish(msg("d", 50))
	c.at(200)
	c.want("strict", c.ready(), "head", "b", "c", "d")
	c.feed(&mail.Configure{Settings: settings(dlx)})
	c.want("eager again: what is past expires at once", c.ready(), "head", "c")
	c.want("in deadline order", c.seenOff(), "expired d", "expired b")
	c.at(300)
	c.want("on time", c.ready(), "head")
}

// TestPolicyTTL_TTL24_TTL25: queued messages keep their deadlines, or get new ones counted from their enqueue times.
func TestPolicyTTL_TTL24_TTL25(t *testing.T) {
	retroactive := func(on bool, ms int64) *mail.Configure {
		s := settings(dlx, ttl(ms))
		s.RetroactiveTTL = on
		return &mail.Configure{Settings: s}
	}
	tests := []struct {
		name   string
		on     bool
		before int64
		after  int64
		want   string // "body@ms" of the expiries up to 10 s
	}{
		{"TTL-24 set", false, -1, 1000, "own@400"},
		{"TTL-24 removed", false, 1000, -1, "own@400 plain@1000"},
		{"TTL-25 set", true, -1, 1000, "own@400 plain@1000"},
		{"TTL-25 shortened", true, 2000, 1000, "own@400 plain@1000"},
		{"TTL-25 past", true, -1, 100, "own@200 plain@200"},
		{"TTL-25 lengthened, never past the message's own", true, 300, 1000, "own@400 plain@1000"},
		{"TTL-25 removed", true, 300, -1, "own@400"},
		{"TTL-25 zero", true, 300, 0, "own@200 plain@200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore(t, dlx, ttl(tt.before))
			c.publish(msg("plain", message.NoTTL), msg("own", 400))
			c.at(200)
			c.feed(retroactive(tt.on, tt.after))
			var got []string
			for ms := int64(200); ms <= 10_000; ms += 100 {
				c.at(ms)
				dead := c.seenOff()
				slices.Sort(dead)
				for _, d := range dead {
					got = append(got, fmt.Sprintf("%s@%d", strings.TrimPrefix(d, "expired "), c.ms()))
				}
			}
			c.want("expired", got, strings.Fields(tt.want)...)
		})
	}
}

func TestRetroactiveUnackedAndMany_TTL25_TTL33(t *testing.T) {
	const n = 3*messages.TurnLimit + 7
	c := newCore(t)
	batch := make([]message.Message, n)
	for i := range batch {
		batch[i] = msg(fmt.Sprint(i), message.NoTTL)
	}
	c.publish(batch...)
	c.get(ch1)
	c.slow = true
	s := settings(ttl(500))
	s.RetroactiveTTL = true
	c.feed(&mail.Configure{Settings: s})
	turns := 1
	for ; c.waiting; turns++ {
		c.waiting = false
		c.feed(again{})
	}
	if turns < 3 || c.Expiry.Len() != n-1 {
		t.Fatalf("%d turns, %d on the wheel", turns, c.Expiry.Len())
	}
	c.slow = false
	c.at(499)
	if c.Backlog.Ready() != n-1 {
		t.Fatalf("%d ready", c.Backlog.Ready())
	}
	c.settle(ch1, mail.Requeue, 1, 1)
	c.at(500)
	if c.Backlog.Len() != 0 {
		t.Fatalf("%d left", c.Backlog.Len())
	}
}
