package broker

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The TTL of a message published in a transaction begins at the commit (TTL-12).
func TestTTL12_FromTheCommit(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch, other := b.Connect().Open(), b.Connect().Open()
		ch.Declare("q", nil)
		if err := ch.Tx(); err != nil {
			t.Fatal(err)
		}
		b.AdvanceTo(time.Second)
		ch.Send("", "q", testkit.Expiring("m", "300"))
		b.Advance(500 * ms)
		if err := ch.TxCommit(); err != nil {
			t.Fatal(err)
		}
		b.AdvanceTo(1799 * ms)
		if n := b.Describe("q").Ready; n != 1 {
			t.Errorf("%d ready 299 ms after the commit", n)
		}
		b.AdvanceTo(1800 * ms)
		if d := other.Fetch("q"); d != nil {
			t.Error("it is there 300 ms after the commit")
		}
		ch.Send("", "q", testkit.Expiring("m", "0"))
		if err := ch.TxRollback(); err != nil {
			t.Fatal(err)
		}
		expectDrained(b, other, "q", "")
	})
}

// Each copy of a message has the deadline of its own queue (TTL-13).
func TestTTL13_CopiesAreIndependent(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ttls := map[string]int{"a": 100, "b": 400, "c": 900, "d": -1}
		for q, ttl := range ttls {
			args := amqp.Table{}
			if ttl > 0 {
				args["x-message-ttl"] = ttl
			}
			ch.Declare(q, args)
			ch.Bind(q, "", "amq.fanout")
		}
		b.AdvanceTo(time.Second)
		ch.Send("amq.fanout", "", testkit.Expiring("m", "500"))
		for q, ttl := range ttls {
			if ttl < 0 || ttl > 500 {
				ttls[q] = 500
			}
		}
		for at := 50; at <= 1000; at += 50 {
			b.AdvanceTo(time.Second + time.Duration(at)*ms)
			for q, ttl := range ttls {
				if there := b.Describe(q).Ready == 1; there != (at < ttl) {
					t.Errorf("%s after %d ms: %v", q, at, there)
				}
			}
		}
	})
}

// The expectations about expiry in the test suites of RabbitMQ's Java client (TTL-37), for TTLs of queues and of messages.
func TestTTL37_JavaClientsSuite(t *testing.T) {
	const ttl = 2000 * ms
	tests := map[string]func(b *testkit.Bubble, ch *testkit.Channel, send func(body string)){
		"requeue, then expiry": func(b *testkit.Bubble, ch *testkit.Channel, send func(string)) {
			send("m")
			b.Advance(ttl / 5)
			for range 3 {
				d, ok, err := ch.Get("q", false)
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
				_ = d.Nack(false, true)
				b.Advance(ttl / 5)
			}
			b.Advance(ttl/5 + ttl/50)
			if ch.Fetch("q") != nil {
				b.Error("it outlives its TTL")
			}
		},
		"publish and get with expiry": func(b *testkit.Bubble, ch *testkit.Channel, send func(string)) {
			send("1")
			b.Advance(1200 * ms)
			send("2")
			b.Advance(ms)
			send("3")
			if got := string(ch.Fetch("q").Body); got != "1" {
				b.Errorf("got %s, want 1", got)
			}
			b.Advance(1500 * ms)
			send("4")
			b.Advance(ms)
			if d := ch.Fetch("q"); string(d.Body) != "2" || d.MessageCount != 2 {
				b.Errorf("got %s, %d left", d.Body, d.MessageCount)
			}
			b.Advance(1000 * ms)
			expectDrained(b, ch, "q", "4")
		},
		"dead-lettered promptly": func(b *testkit.Bubble, ch *testkit.Channel, send func(string)) {
			arrivals := b.Connect().Open().Watch("dead")
			from := b.Elapsed()
			send("m")
			if a := testkit.Receive(b, arrivals); a.At-from < ttl || a.At-from > ttl+ms {
				b.Errorf("after %v", a.At-from)
			}
		},
		"unacknowledged, dead-lettered when it comes back": func(b *testkit.Bubble, ch *testkit.Channel, send func(string)) {
			send("m")
			holder := b.Connect()
			holder.Open().Subscribe("q", 1)
			b.Advance(2 * ttl)
			if n := b.Describe("dead").Ready; n != 0 {
				b.Errorf("%d dead while it was held", n)
			}
			holder.Leave()
			b.Advance(ms)
			expectDrained(b, ch, "dead", "m")
		},
	}
	for name, test := range tests {
		for _, by := range []string{"queue", "message", "policy"} {
			t.Run(fmt.Sprint(name, " by ", by), func(t *testing.T) {
				testkit.Run(t, nil, func(b *testkit.Bubble) {
					ch := b.Connect().Open()
					ch.Declare("dead", nil)
					args, own := deadTo("dead"), ""
					switch by {
					case "queue":
						args["x-message-ttl"] = ttl.Milliseconds()
					case "message":
						own = fmt.Sprint(ttl.Milliseconds())
					case "policy":
						b.SetPolicy("p", fmt.Sprintf(`{"pattern":"^q$","definition":{"message-ttl":%d}}`, ttl.Milliseconds()))
					}
					ch.Declare("q", args)
					test(b, ch, func(body string) {
						ch.Send("", "q", testkit.Expiring(body, own))
						synctest.Wait()
					})
				})
			})
		}
	}
}

// A consumer that subscribes late gets only the first message (TTL-37; "late to the party" in the Java suite).
func TestTTL37_LateToTheParty(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Send("", "q", testkit.Expiring("first", "500"))
		ch.Send("", "q", testkit.Expiring("second", "100"))
		b.Advance(200 * ms)
		deliveries := ch.Tail("q")
		if d := testkit.Receive(b, deliveries); string(d.Body) != "first" {
			t.Errorf("got %s", d.Body)
		}
		testkit.Silent(b, deliveries, time.Second)
	})
}

// LavinMQ has other ways to declare a delayed exchange, and removes the header. In Candlemark only the type makes an exchange
// delayed, the header is kept with its sign changed, and delays may exceed 32 bits (DLY-7).
func TestDLY7_LavinMQsWays(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if err := ch.ExchangeDeclare("plain", "fanout", true, false, false, false, amqp.Table{"x-delayed-exchange": true}); err != nil {
			t.Fatal(err)
		}
		ch.Declare("q", nil)
		ch.Bind("q", "", "plain")
		ch.Send("plain", "", held("at once", int32(1000)))
		synctest.Wait()
		if d := ch.Fetch("q"); d == nil || d.Headers["x-delay"] != int32(1000) {
			t.Errorf("%+v", d)
		}
		delayed(b, ch, "x", "fanout", "due", "")
		ch.Send("x", "", held("long", int64(1<<32+5000)))
		ch.Send("x", "", held("short", int64(5000)))
		b.Advance(5001 * ms)
		if d := ch.Fetch("due"); d == nil || d.Headers["x-delay"] != int64(-5000) {
			t.Errorf("%+v", d)
		}
		expectHeld(b, "x", 1)
		queues, err := b.Node.API().Queues(b.Context(), "/")
		if err != nil {
			t.Fatal(err)
		}
		for i := range queues {
			if !slices.Contains([]string{"q", "due"}, queues[i].Name) {
				t.Errorf("a queue %s", queues[i].Name)
			}
		}
	})
}
