package broker

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// deadTo returns the arguments of a queue that dead-letters to a queue by name.
func deadTo(queue string, more ...any) amqp.Table {
	args := amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return args
}

// A thousand messages with TTLs in random order each expire at their own millisecond, at any position and without a consumer
// (TTL-30, TTL-31).
func TestTTL30ExpiryAtAnyPosition(t *testing.T) {
	const count = 1000
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead"))
		arrivals := b.Connect().Open().Watch("dead")
		b.AdvanceTo(time.Second) // a whole millisecond, so that nothing is rounded
		ttls := rand.Perm(count)
		for i, n := range ttls {
			ttl := (n + 1) * 345_678 // up to four days, 345.678 s apart
			ch.Send("", "q", testkit.Expiring(strconv.Itoa(i), strconv.Itoa(ttl)))
			ttls[i] = ttl
		}
		ch.Send("", "q", testkit.Text("for ever"))
		synctest.Wait()
		if got := b.Describe("q").Ready; got != count+1 {
			t.Fatalf("%d ready", got)
		}
		last := 0
		for range count {
			a := <-arrivals
			i, _ := strconv.Atoi(string(a.Body))
			if due := time.Second + time.Duration(ttls[i])*time.Millisecond; a.At != due {
				t.Fatalf("message %d came at %s, due at %s", i, a.At, due)
			}
			if ttls[i] < last {
				t.Fatal("out of order")
			}
			last = ttls[i]
		}
		testkit.Silent(b, arrivals, 24*time.Hour)
		if got := ch.Drain("q"); len(got) != 1 || got[0] != "for ever" {
			t.Errorf("left: %v", got)
		}
	})
}

// A message never expires early, even if it is published between two milliseconds.
func TestTTL31NeverEarly(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead"))
		arrivals := b.Connect().Open().Watch("dead")
		for range 200 {
			b.Advance(time.Duration(rand.IntN(1e9)))
			from := b.Elapsed()
			ttl := time.Duration(1+rand.IntN(50)) * time.Millisecond
			ch.Send("", "q", testkit.Expiring("m", strconv.FormatInt(ttl.Milliseconds(), 10)))
			a := testkit.Receive(b, arrivals)
			if late := a.At - from - ttl; late < 0 || late > time.Millisecond {
				t.Fatalf("published at %s with %s, came at %s", from, ttl, a.At)
			}
		}
	})
}

func TestTTL9QueueTTL(t *testing.T) {
	for _, tc := range []struct {
		queue   any
		message string
		ms      int
	}{
		{int32(5000), "", 5000},
		{int64(5000), "3000", 3000},
		{int16(5000), "9000", 5000}, // TTL-10
		{nil, "0700", 700},
		{int64(315360000000), "1", 1},
		{int64(0), "1", 0},
	} {
		t.Run(fmt.Sprint(tc.queue, "-", tc.message), func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Declare("dead", nil)
				args := deadTo("dead")
				if tc.queue != nil {
					args["x-message-ttl"] = tc.queue
				}
				ch.Declare("q", args)
				arrivals := b.Connect().Open().Watch("dead")
				b.AdvanceTo(time.Second)
				ch.Send("", "q", testkit.Expiring("m", tc.message))
				a := testkit.Receive(b, arrivals)
				if due := time.Second + time.Duration(tc.ms)*time.Millisecond; a.At != due {
					t.Errorf("came at %s, due at %s", a.At, due)
				}
				if a.Expiration != "" { // DL-17
					t.Errorf("still has expiration %q", a.Expiration)
				}
			})
		})
	}
}

// The expiration property is delivered unchanged (TTL-11), but a message is not delivered after its deadline (TTL-14, TTL-17).
func TestTTL17HandOver(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		b.AdvanceTo(time.Second)
		for range 2 {
			ch.Send("", "q", testkit.Expiring("m", "100"))
		}
		b.AdvanceTo(1099 * time.Millisecond)
		if d := ch.Fetch("q"); d == nil || d.Expiration != "100" {
			t.Fatalf("got %+v", d)
		}
		time.Sleep(time.Millisecond) // not settled: the queue's timer and the get race
		if d, ok, err := ch.Channel.Get("q", true); ok || err != nil {
			t.Errorf("got %+v, %v at its deadline", d, err)
		}
	})
}

// Unacked messages do not expire (TTL-15); when requeued they expire at their original deadline, or at once if it has passed
// (TTL-16).
func TestTTL16Requeue(t *testing.T) {
	back := map[string]func(ch *testkit.Channel, d amqp.Delivery) error{
		"nack":   func(_ *testkit.Channel, d amqp.Delivery) error { return d.Nack(false, true) },
		"reject": func(_ *testkit.Channel, d amqp.Delivery) error { return d.Reject(true) },
		"close":  func(ch *testkit.Channel, _ amqp.Delivery) error { return ch.Close() },
		//lint:ignore SA1019 brokers still have to answer it
		"recover": func(ch *testkit.Channel, _ amqp.Delivery) error { return ch.Recover(true) },
	}
	for how, giveBack := range back {
		for _, at := range []time.Duration{1500 * time.Millisecond, 4 * time.Second} {
			t.Run(fmt.Sprint(how, "-", at), func(t *testing.T) {
				testkit.Run(t, nil, func(b *testkit.Bubble) {
					client := b.Connect()
					setup := client.Open()
					setup.Declare("dead", nil)
					setup.Declare("q", deadTo("dead"))
					arrivals := b.Connect().Open().Watch("dead")
					ch := client.Open()
					b.AdvanceTo(time.Second)
					setup.Send("", "q", testkit.Expiring("m", "1000"))
					synctest.Wait()
					d, ok, err := ch.Get("q", false)
					if err != nil || !ok {
						t.Fatal(ok, err)
					}
					b.AdvanceTo(at)
					if err := giveBack(ch, d); err != nil {
						t.Fatal(err)
					}
					a := testkit.Receive(b, arrivals)
					if due := max(2*time.Second, at); a.At != due {
						t.Errorf("came at %s, due at %s", a.At, due)
					}
					testkit.Silent(b, arrivals, time.Minute)
				})
			})
		}
	}
}

// A message acknowledged after its deadline is settled, not dead-lettered (TTL-15).
func TestTTL15AckAfterDeadline(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead"))
		deliveries := ch.Subscribe("q", 0)
		ch.Send("", "q", testkit.Expiring("m", "1000"))
		d := testkit.Receive(b, deliveries)
		b.Advance(time.Hour)
		if info := b.Describe("q"); info.Unacked != 1 {
			t.Errorf("%+v", info)
		}
		_ = d.Ack(false)
		b.Advance(time.Hour)
		if n := b.Describe("dead").Ready; n != 0 {
			t.Errorf("%d dead", n)
		}
	})
}

func TestTTL20Zero(t *testing.T) {
	for _, by := range []string{"property", "argument"} {
		zero := testkit.Expiring("m", "0")
		args := deadTo("dead")
		if by == "argument" {
			zero = testkit.Text("m")
			args["x-message-ttl"] = 0
		}
		t.Run(by, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Declare("dead", nil)
				ch.Declare("q", args)
				dead := b.Connect().Open().Watch("dead")
				ch.Send("", "q", zero) // no consumer
				testkit.Receive(b, dead)
				if d := ch.Fetch("q"); d != nil {
					t.Error("basic.get got a message with TTL 0")
				}
				sub := b.Connect().Open()
				deliveries := sub.Subscribe("q", 1)
				ch.Send("", "q", zero) // delivered at once
				d := testkit.Receive(b, deliveries)
				ch.Send("", "q", zero) // the only credit is in use
				testkit.Receive(b, dead)
				testkit.Silent(b, deliveries, time.Second)
				_ = d.Nack(false, true) // TTL-22
				a := testkit.Receive(b, dead)
				deaths := a.Headers["x-death"].([]any)
				if got := deaths[0].(amqp.Table)["reason"]; got != "expired" {
					t.Errorf("reason %v", got)
				}
				testkit.Silent(b, deliveries, time.Second)
				ch.Send("", "q", zero)
				testkit.Receive(b, deliveries)
				testkit.Silent(b, dead, time.Second)
			})
		})
	}
}

// A long queue whose messages all expire at the same time keeps their order and loses none of them (TTL-31, TTL-33, DL-31).
func TestTTL33ManyAtOnce(t *testing.T) {
	const count = 10_000
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead", "x-message-ttl", 30_000))
		b.AdvanceTo(time.Second)
		for i := range count {
			ch.Send("", "q", testkit.Text(strconv.Itoa(i)))
		}
		synctest.Wait()
		if n := b.Describe("q").Ready; n != count || b.Elapsed() != time.Second {
			t.Fatalf("%d ready after %s", n, b.Elapsed())
		}
		arrivals := b.Connect().Open().Watch("dead")
		for i := range count {
			a := testkit.Receive(b, arrivals)
			if string(a.Body) != strconv.Itoa(i) || a.At != 31*time.Second {
				t.Fatalf("%s at %s", a.Body, a.At)
			}
		}
	})
}
