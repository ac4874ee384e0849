package broker

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// delayed declares a delayed exchange that routes by kind, with a queue bound to
// it by key; both are durable.
func delayed(b *testkit.Bubble, ch *testkit.Channel, name, kind, queue, key string) {
	b.Helper()
	if err := declareDelayed(ch, name, kind); err != nil {
		b.Fatal(err)
	}
	durable(b, ch, queue, nil)
	ch.Bind(queue, key, name)
}

func declareDelayed(ch *testkit.Channel, name string, kind any) error {
	args := amqp.Table{}
	if kind != nil {
		args["x-delayed-type"] = kind
	}
	return ch.ExchangeDeclare(name, "x-delayed-message", true, false, false, false, args)
}

// held returns a message with an x-delay header.
func held(body string, delay any) amqp.Publishing {
	return amqp.Publishing{Body: []byte(body), DeliveryMode: amqp.Persistent, Headers: amqp.Table{"x-delay": delay}}
}

// holds returns the number of messages that an exchange reports as held; -1 if it reports none.
func holds(b *testkit.Bubble, exchange string) int {
	b.Helper()
	all, err := b.Node.API().Exchanges(b.Context(), "/")
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range all {
		if x.Name == exchange && x.Delayed != nil {
			return *x.Delayed
		}
	}
	return -1
}

func expectHeld(b *testkit.Bubble, exchange string, want int) {
	b.Helper()
	synctest.Wait()
	if got := holds(b, exchange); got != want {
		b.Errorf("%s holds %d messages, want %d", exchange, got, want)
	}
}

func expectDrained(b *testkit.Bubble, ch *testkit.Channel, queue, want string) {
	b.Helper()
	synctest.Wait()
	if got := strings.Join(ch.Drain(queue), " "); got != want {
		b.Errorf("%v: %s has %q, want %q", b.Elapsed(), queue, got, want)
	}
}

func TestDLY1Declare(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := b.Connect()
		for _, row := range []struct {
			kind any
			want string
		}{
			{nil, "PRECONDITION_FAILED - Invalid argument, 'x-delayed-type' must be an existing exchange type"},
			{int32(1), "PRECONDITION_FAILED - Invalid argument, 'x-delayed-type' must be an existing exchange type"},
			{"x-delayed-message", "PRECONDITION_FAILED - Invalid argument, 'x-delayed-message' can't be used for 'x-delayed-type'"},
			{"nope", "PRECONDITION_FAILED - unknown exchange type 'nope'"},
		} {
			err, _ := declareDelayed(c.Open(), "x", row.kind).(*amqp.Error)
			if err == nil || err.Code != 406 || err.Reason != row.want {
				t.Errorf("%v: %v", row.kind, err)
			}
		}
		for _, kind := range []string{"direct", "fanout", "topic", "headers", "direct"} {
			if err := declareDelayed(c.Open(), "x", kind); err != nil { // the type of the inner exchange is not compared
				t.Errorf("%s: %v", kind, err)
			}
		}
		expectHeld(b, "x", 0)
		expectHeld(b, "amq.topic", -1)
	})
}

// Clients have no access to the queue in which messages are held.
func TestDLY1HolderIsNobodys(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := b.Connect()
		ch := c.Open()
		delayed(b, ch, "x", "direct", "q", "k")
		b.SetPolicy("p", `{"pattern":".*","definition":{"message-ttl":1,"max-length":0}}`)
		ch.Send("x", "k", held("m", int32(1000)))
		ch.Send("", "amq.delayed.x", testkit.Text("not this way"))
		expectHeld(b, "x", 1)
		for what, do := range map[string]func(*testkit.Channel) error{
			"404 declare passively": func(ch *testkit.Channel) error {
				_, err := ch.QueueDeclarePassive("amq.delayed.x", true, false, false, false, nil)
				return err
			},
			"403 declare": func(ch *testkit.Channel) error {
				_, err := ch.QueueDeclare("amq.delayed.x", true, false, false, false, nil)
				return err
			},
			"404 bind": func(ch *testkit.Channel) error { return ch.QueueBind("amq.delayed.x", "", "amq.fanout", false, nil) },
			"404 get":  func(ch *testkit.Channel) error { _, _, err := ch.Get("amq.delayed.x", true); return err },
			"404 purge": func(ch *testkit.Channel) error {
				_, err := ch.QueuePurge("amq.delayed.x", false)
				return err
			},
			"404 consume": func(ch *testkit.Channel) error {
				_, err := ch.Consume("amq.delayed.x", "", false, false, false, false, nil)
				return err
			},
		} {
			if err, _ := do(c.Open()).(*amqp.Error); err == nil || fmt.Sprint(err.Code) != what[:3] {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := ch.QueueDelete("amq.delayed.x", false, false, false); err != nil {
			t.Error(err) // the queue does not exist, as requested
		}
		queues, err := b.Node.API().Queues(b.Context(), "/")
		if err != nil || len(queues) != 1 {
			t.Errorf("%d queues, %v", len(queues), err)
		}
		b.SetPolicy("p", `{"pattern":".*","definition":{"max-length":10}}`)
		b.Advance(time.Second)
		expectDrained(b, ch, "q", "m")
	})
}

func TestDLY2Values(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := b.Connect()
		ch := c.Open()
		delayed(b, ch, "x", "fanout", "q", "")
		for _, v := range []any{
			int8(100), int32(0), int64(-100), "-100", -1e300, 0.9, true, nil, amqp.Table{}, int64(math.MinInt64),
		} {
			ch.Send("x", "", held("now", v))
			expectDrained(b, ch, "q", "now")
		}
		ch.Send("x", "", testkit.Text("without"))
		expectDrained(b, ch, "q", "without")
		for _, v := range []any{uint8(100), int16(100), int32(100), int64(100), float32(100.5), 100.9, "100", "+100"} {
			start := b.Elapsed()
			ch.Send("x", "", held(fmt.Sprint(v), v))
			b.AdvanceTo(start + 99*ms)
			expectDrained(b, ch, "q", "")
			b.AdvanceTo(start + 101*ms)
			expectDrained(b, ch, "q", fmt.Sprint(v))
		}
		for v, want := range map[any]string{
			"soon":                       "invalid header 'x-delay': 'soon' is not an integer",
			"1.5":                        "invalid header 'x-delay': '1.5' is not an integer",
			"315360000001":               "invalid header 'x-delay': 315360000001 is more than 10 years (315360000000 ms)",
			int64(3153600000e5):          "invalid header 'x-delay': 315360000000000 is more than 10 years (315360000000 ms)",
			"99999999999999999999999999": "invalid header 'x-delay': 99999999999999999999999999 is more than 10 years (315360000000 ms)",
		} {
			ch := c.Open()
			closed := ch.NotifyClose(make(chan *amqp.Error, 1))
			ch.Send("x", "", held("m", v))
			if err := testkit.Receive(b, closed); err == nil || err.Code != 406 || err.Reason != "PRECONDITION_FAILED - "+want {
				t.Errorf("%v: %v", v, err)
			}
		}
	})
}

// A delay may be 10 years; RabbitMQ's plugin is limited to 50 days.
func TestDLY2TenYears(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		const years = 315_360_000_000
		ch.Send("x", "", held("at last", int64(years)))
		ch.Send("x", "", held("50 days", int64(1<<32)))
		b.Advance(1<<32*ms + ms)
		expectDrained(b, ch, "q", "50 days")
		expectHeld(b, "x", 1)
	})
}

// A held message counts as routed; when it is due, it is routed as if it had been published then.
func TestDLY3DLY4Routing(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("unrouted", nil)
		ch.Exchange("ae", "fanout")
		ch.Bind("unrouted", "", "ae")
		if err := ch.ExchangeDeclare("x", "x-delayed-message", false, false, false, false, amqp.Table{
			"x-delayed-type": "topic", "alternate-exchange": "ae",
		}); err != nil {
			t.Fatal(err)
		}
		returns := ch.NotifyReturn(make(chan amqp.Return, 10))
		ch.Confirms()
		for i, key := range []string{"a.b", "nowhere"} {
			if !ch.Await(ch.Begin("x", key, true, held(key, int32(1000*(i+1))))) {
				t.Errorf("%s was not confirmed", key)
			}
		}
		expectDrained(b, ch, "unrouted", "")
		ch.Declare("later", nil)
		ch.Bind("later", "a.*", "x")
		b.Advance(1001 * ms)
		d := ch.Fetch("later")
		if d == nil || d.Headers["x-delay"] != int64(-1000) || d.Exchange != "x" || d.RoutingKey != "a.b" || len(d.Headers) != 1 {
			t.Errorf("%+v", d)
		}
		expectDrained(b, ch, "unrouted", "")
		b.Advance(1000 * ms)
		expectDrained(b, ch, "unrouted", "nowhere")
		if err := ch.QueueUnbind("later", "a.*", "x", nil); err != nil {
			t.Fatal(err)
		}
		testkit.Silent(b, returns, time.Second)
	})
}

// The TTL begins at the target queue.
func TestDLY4TTLBeginsAtRelease(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		m := held("m", int32(5000))
		m.Expiration = "1000"
		ch.Send("x", "", m)
		b.AdvanceTo(5900 * ms)
		if d := ch.Fetch("q"); d == nil || d.Expiration != "1000" {
			t.Errorf("%+v", d)
		}
		ch.Send("x", "", m)
		b.Advance(6002 * ms)
		expectDrained(b, ch, "q", "")
	})
}

func TestDLY4KeysAndOrder(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "direct", "q", "k")
		delayed(b, ch, "x", "direct", "blind", "bcc")
		delayed(b, ch, "x", "direct", "copy", "cc")
		m := held("m", int32(10))
		m.Headers["CC"], m.Headers["BCC"] = []any{"cc", "k"}, []any{"bcc"}
		ch.Send("x", "k", m)
		b.Advance(11 * ms)
		for _, q := range []string{"q", "blind", "copy"} {
			d := ch.Fetch(q)
			if d == nil || d.Headers["BCC"] != nil || d.Headers["x-delay"] != int64(-10) || d.DeliveryMode != 2 {
				t.Errorf("%s: %+v", q, d)
			}
			expectDrained(b, ch, q, "")
		}
		var want []string
		for i := range 5000 { // messages with the same due time stay in order
			body := fmt.Sprint(i)
			want = append(want, body)
			ch.Send("x", "k", held(body, int32(60_000)))
		}
		b.Advance(time.Minute + 5*ms)
		expectDrained(b, ch, "q", strings.Join(want, " "))
	})
}

func TestDLY5Restart(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		delayed(b, ch, "x", "topic", "q", "#")
		overdue, due := held("overdue", int32(10_000)), held("due", int64(40*24*3600*1000))
		overdue.Expiration = "5000"
		overdue.Headers["CC"] = []any{"cc"}
		ch.Confirms()
		for _, m := range []amqp.Publishing{overdue, due} {
			if !ch.Publish("x", "k", m) {
				t.Error("refused")
			}
		}
		transient := held("transient", int32(10_000))
		transient.DeliveryMode = amqp.Transient
		ch.Publish("x", "k", transient)
		expectHeld(b, "x", 3)
	}, 20*24*time.Hour, func(b *testkit.Bubble, ch *testkit.Channel) {
		expectHeld(b, "x", 1)
		b.Advance(4 * time.Second) // the TTL began at the release
		if d := ch.Fetch("q"); d == nil || string(d.Body) != "overdue" || d.Headers["x-delay"] != int64(-10_000) || d.Expiration != "5000" {
			t.Errorf("%+v", d)
		}
		b.AdvanceTo(40*24*time.Hour - ms)
		expectDrained(b, ch, "q", "transient") // all are stored (STORE-1)
		b.Advance(time.Second)
		expectDrained(b, ch, "q", "due")
		expectHeld(b, "x", 0)
	})
}

// A released message is not held again.
func TestDLY5ReleasedOnce(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		delayed(b, ch, "x", "fanout", "q", "")
		ch.Confirms()
		ch.Publish("x", "", held("m", int32(1000)))
		b.Advance(1100 * ms)
	}, time.Hour, func(b *testkit.Bubble, ch *testkit.Channel) {
		expectDrained(b, ch, "q", "m")
	})
}

// A deleted exchange deletes its held messages, and is empty when declared again.
func TestDLY5Deleted(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		delayed(b, ch, "x", "fanout", "q", "")
		ch.Confirms()
		ch.Publish("x", "", held("lost", int32(1000)))
		b.Log.Allow("not due yet")
		if err := ch.ExchangeDelete("x", false, false); err != nil {
			t.Fatal(err)
		}
		expectHeld(b, "x", -1)
		delayed(b, ch, "x", "fanout", "q", "")
		expectHeld(b, "x", 0)
		ch.Publish("x", "", held("kept", int32(2000)))
		delayed(b, ch, "gone", "fanout", "q", "")
		ch.Publish("gone", "", held("lost, too", int32(5000)))
		if err := ch.ExchangeDelete("gone", false, false); err != nil {
			t.Fatal(err)
		}
	}, time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
		expectHeld(b, "gone", -1)
		b.Advance(10 * time.Second)
		expectDrained(b, ch, "q", "kept")
	})
}

// A message is held on any way by which it reaches the exchange, and once for each such exchange on its way.
func TestDLY6OtherWays(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "direct", "q", "k")
		delayed(b, ch, "x2", "fanout", "q2", "")
		if err := ch.ExchangeBind("x2", "k", "x", false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Exchange("front", "fanout")
		ch.Declare("at once", nil)
		ch.Bind("at once", "", "front")
		if err := ch.ExchangeBind("x", "", "front", false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Send("front", "k", held("bound", int32(100)))
		expectDrained(b, ch, "at once", "bound")
		b.Advance(101 * ms)
		if d := ch.Fetch("q"); d == nil || d.Exchange != "front" {
			t.Errorf("%+v", d)
		}
		expectDrained(b, ch, "q2", "bound") // negative x-delay: not held again

		// Each retry is held in the exchange; a cycle through it is not dropped as one.
		ch.Declare("work", amqp.Table{"x-dead-letter-exchange": "x", "x-dead-letter-routing-key": "work", "x-message-ttl": int32(50)})
		ch.Bind("work", "work", "x")
		ch.Send("", "work", held("dead", int32(1000)))
		b.Advance(52 * ms)
		expectDrained(b, ch, "work", "")
		expectHeld(b, "x", 1)
		b.Advance(1001 * ms)
		d := ch.Fetch("work")
		if d == nil || d.Headers["x-delay"] != int64(-1000) || deaths(*d) != "work/expired×1 (work)" {
			t.Fatalf("%+v", d)
		}
	})
}

// 5,000 messages with delays spread over ten seconds are never released early, and none is lost.
func TestDLY4NeverEarlyNoneLost(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		arrived := ch.Watch("q")
		const count = 5_000
		start := b.Elapsed()
		for i := range count {
			ch.Send("x", "", held(fmt.Sprint(i*7919%10_000), int32(i*7919%10_000)))
		}
		for range count {
			a := testkit.Receive(b, arrived)
			var delay int
			if _, err := fmt.Sscan(string(a.Body), &delay); err != nil {
				t.Fatal(err)
			}
			if after := b.Elapsed() - start; after < time.Duration(delay)*ms {
				t.Fatalf("%d ms: after %v", delay, after)
			}
		}
		expectHeld(b, "x", 0)
	})
}
