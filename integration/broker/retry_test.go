package broker

import (
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// insisting declares a quorum queue with at-least-once dead-lettering to dlx.
func insisting(b *testkit.Bubble, ch *testkit.Channel, more amqp.Table) {
	b.Helper()
	args := amqp.Table{
		"x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
		"x-dead-letter-exchange": "dlx", "x-message-ttl": 10,
	}
	for k, v := range more {
		args[k] = v
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, args); err != nil {
		b.Fatal(err)
	}
}

// A dead letter waits for its exchange, for a binding, and for room in the target, and arrives once (DL-30).
func TestDL30Waits(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		insisting(b, ch, amqp.Table{"x-max-length": 2})
		ch.Declare("full", amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
		ch.Declare("dead", nil)
		ch.Publish("", "full", testkit.Text("in the way"))
		for _, body := range []string{"1", "2"} {
			if !ch.Publish("", "q", testkit.Text(body)) {
				b.Fatal("nack")
			}
		}
		b.Advance(time.Hour)
		if ch.Publish("", "q", testkit.Text("3")) {
			b.Error("what waits does not count against max-length")
		}
		ch.Exchange("dlx", "fanout")
		b.Advance(time.Hour)
		ch.Bind("full", "", "dlx")
		ch.Bind("dead", "", "dlx")
		b.Advance(time.Hour)
		if got := fmt.Sprint(ch.Drain("dead")); got != "[1 2]" {
			b.Errorf("the one with room has %s", got)
		}
		for _, want := range []string{"[in the way]", "[1]", "[2]", "[]"} {
			if got := fmt.Sprint(ch.Drain("full")); got != want {
				b.Errorf("the full one has %s, want %s", got, want)
			}
			b.Advance(time.Hour)
		}
		if got := fmt.Sprint(ch.Drain("dead")); got != "[]" {
			b.Errorf("again %s", got)
		}
		if !ch.Publish("", "q", testkit.Text("4")) {
			b.Error("there is room again")
		}
	})
}

// At-least-once falls back to at-most-once when overflow is not reject-publish (DL-30).
func TestDL30FallsBack(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		insisting(b, ch, amqp.Table{"x-overflow": "drop-head"})
		ch.Send("", "q", testkit.Text("1"))
		b.Advance(time.Second)
		ch.Declare("dead", nil)
		ch.Exchange("dlx", "fanout")
		ch.Bind("dead", "", "dlx")
		b.Advance(time.Hour)
		if got := fmt.Sprint(ch.Drain("dead")); got != "[]" {
			b.Errorf("kept %s", got)
		}
	})
}

// A durable classic queue retries dead-lettering when a target is full (DL-29).
func TestDL29Refused(t *testing.T) {
	for _, durable := range []bool{true, false} {
		testkit.Run(t, nil, func(b *testkit.Bubble) {
			ch := b.Connect().Open()
			ch.Declare("full", amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
			if _, err := ch.QueueDeclare("q", durable, false, false, false, deadTo("full", "x-message-ttl", 10)); err != nil {
				b.Fatal(err)
			}
			ch.Send("", "full", testkit.Text("in the way"))
			ch.Send("", "q", testkit.Text("1"))
			b.Advance(2 * time.Second)
			ch.Drain("full")
			b.Advance(time.Minute)
			want := "[]"
			if durable {
				want = "[1]"
			}
			if got := fmt.Sprint(ch.Drain("full")); got != want {
				b.Errorf("durable %v: %s", durable, got)
			}
		})
	}
}
