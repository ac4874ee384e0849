package broker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A consumer that does not acknowledge in time loses its delivery and its subscription, and nothing else: the channel stays
// usable, and late acknowledgements are ignored.
func TestADR10ConsumerTimeout(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("not acknowledged in time")
		one, two := b.Connect().Open(), b.Connect().Open()
		one.Declare("q", amqp.Table{"x-consumer-timeout": 60_000})
		one.Declare("other", nil)
		hangs, works := one.Subscribe("q", 1), one.Subscribe("other", 1)
		one.Send("", "q", testkit.Text("a"))
		one.Send("", "q", testkit.Text("b"))
		first := testkit.Receive(b, hangs)
		b.AdvanceTo(time.Minute - ms)
		testkit.Silent(b, one.Cancelled, 0)
		b.Advance(2 * ms)
		if tag := testkit.Receive(b, one.Cancelled); tag != "q-a" {
			b.Errorf("cancelled %s", tag)
		}
		rest := two.Subscribe("q", 0)
		for _, want := range []string{"a true", "b false"} {
			d := testkit.Receive(b, rest)
			if got := fmt.Sprint(string(d.Body), " ", d.Redelivered); got != want {
				b.Errorf("got %s, want %s", got, want)
			}
			if err := d.Ack(false); err != nil {
				b.Fatal(err)
			}
		}
		if err := first.Ack(false); err != nil {
			b.Fatal(err)
		}
		one.Send("", "other", testkit.Text("c"))
		if d := testkit.Receive(b, works); string(d.Body) != "c" {
			b.Errorf("got %s", d.Body)
		}
		testkit.Silent(b, one.Closed, time.Second)
		if info := b.Describe("q"); info.Counts.TimedOut != 1 || info.Counts.Late != 1 || info.Unacked != 0 || info.Ready != 0 {
			b.Errorf("%+v", info.Counts)
		}
		// The client may consume again, now with its own timeout.
		again, err := one.Consume("q", "again", false, false, false, false, amqp.Table{"x-consumer-timeout": 10})
		if err != nil {
			b.Fatal(err)
		}
		two.Close()
		one.Send("", "q", testkit.Text("d"))
		testkit.Receive(b, again)
		if tag := testkit.Receive(b, one.Cancelled); tag != "again" {
			b.Errorf("cancelled %s", tag)
		}
	})
}

// A consumer timeout set by policy applies to later deliveries (POL-9).
func TestPOL9ConsumerTimeout(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("not acknowledged in time")
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Subscribe("q", 0)
		ch.Send("", "q", testkit.Text("before"))
		b.Advance(ms)
		b.SetPolicy("p", `{"pattern":"q","definition":{"consumer-timeout":1000}}`)
		ch.Send("", "q", testkit.Text("after"))
		b.Advance(2 * time.Second)
		testkit.Receive(b, ch.Cancelled)
		if info := b.Describe("q"); info.Ready != 1 || info.Unacked != 1 {
			b.Errorf("%d ready, %d unacknowledged", info.Ready, info.Unacked)
		}
	})
}

// Consumers of higher priority are served first while they have capacity (DEC-15); an invalid priority is refused.
func TestDEC15ConsumerPriority(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("channel closed by the broker")
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		if err := ch.Qos(2, 0, false); err != nil {
			b.Fatal(err)
		}
		from := map[string]<-chan amqp.Delivery{}
		for tag, args := range map[string]amqp.Table{"low": {"x-priority": -1}, "plain": nil, "high": {"x-priority": int64(10)}} {
			d, err := ch.Consume("q", tag, false, false, false, false, args)
			if err != nil {
				b.Fatal(err)
			}
			from[tag] = d
		}
		for i := range 6 {
			ch.Send("", "q", testkit.Text(fmt.Sprint(i)))
		}
		for i, tag := range []string{"high", "high", "plain", "plain", "low", "low"} {
			if d := testkit.Receive(b, from[tag]); string(d.Body) != fmt.Sprint(i) {
				b.Errorf("%s got %s, want %d", tag, d.Body, i)
			}
		}
		_, err := ch.Consume("q", "wrong", false, false, false, false, amqp.Table{"x-priority": "high"})
		var refused *amqp.Error
		const want = `PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got longstr"`
		if !errors.As(err, &refused) || refused.Code != 406 || refused.Reason != want {
			b.Errorf("got %v", err)
		}
	})
}

// x-delivery-count tells a client how many deliveries of a message failed, until the delivery limit dead-letters it, and
// x-acquired-count how many came back; basic.nack does not count as a failure (DL-9).
func TestDL9DeliveryCount(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		if _, err := ch.QueueDeclare("q", true, false, false, false, amqp.Table{
			"x-queue-type": "quorum", "x-delivery-limit": 2, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
		}); err != nil {
			b.Fatal(err)
		}
		deliveries := ch.Subscribe("q", 1)
		ch.Send("", "q", testkit.Text("m"))
		for i, want := range []any{nil, nil, nil, nil, int64(1), int64(2)} {
			d := testkit.Receive(b, deliveries)
			if got := d.Headers["x-delivery-count"]; got != want || d.Redelivered != (i > 0) {
				b.Errorf("got %v, want %v", got, want)
			}
			if got := d.Headers["x-acquired-count"]; i > 0 && got != int64(i) {
				b.Errorf("acquired %v times, not %d", got, i)
			}
			settle := func() error { return d.Nack(false, true) }
			if i >= 3 {
				settle = func() error { return d.Reject(true) }
			}
			if err := settle(); err != nil {
				b.Fatal(err)
			}
		}
		b.Advance(ms)
		d := ch.Fetch("dead")
		if d == nil || deaths(*d) != "q/delivery_limit×1 (q)" || d.Headers["x-delivery-count"] != nil {
			b.Errorf("%+v", d)
		}
	})
}
