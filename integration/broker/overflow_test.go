package broker

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The answers of each overflow behaviour, and the messages that it keeps and dead-letters (DL-10).
func TestDL10OverflowWithLimits(t *testing.T) {
	for _, c := range []struct {
		overflow, limit string
		acks            string
		kept, dead      string
	}{
		{"drop-head", "x-max-length", "true true true", "[3]", "[1 maxlen 2 maxlen]"},
		{"reject-publish", "x-max-length", "true false false", "[1]", "[]"},
		{"reject-publish-dlx", "x-max-length", "true false false", "[1]", "[2 maxlen 3 maxlen]"},
		{"drop-head", "x-max-length-bytes", "true true true", "[3]", "[1 maxlen 2 maxlen]"},
		{"reject-publish", "x-max-length-bytes", "true false false", "[1]", "[]"},
		{"reject-publish-dlx", "x-max-length-bytes", "true false false", "[1]", "[2 maxlen 3 maxlen]"},
	} {
		for _, persistent := range []bool{false, true} {
			t.Run(fmt.Sprint(c.overflow, c.limit, persistent), func(t *testing.T) {
				testkit.Run(t, nil, func(b *testkit.Bubble) {
					ch := b.Connect().Open()
					ch.Confirms()
					ch.Declare("dead", nil)
					if _, err := ch.QueueDeclare("q", true, false, false, false, amqp.Table{
						"x-overflow": c.overflow, c.limit: 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
					}); err != nil {
						b.Fatal(err)
					}
					var acks []string
					for i := range 3 {
						m := testkit.Text(fmt.Sprint(i + 1))
						if persistent {
							m.DeliveryMode = 2
						}
						acks = append(acks, fmt.Sprint(ch.Publish("", "q", m)))
					}
					b.Advance(ms)
					if got := strings.Join(acks, " "); got != c.acks {
						b.Errorf("acks %s", got)
					}
					if got := fmt.Sprint(ch.Drain("q")); got != c.kept {
						b.Errorf("kept %s", got)
					}
					var dead []string
					for d := ch.Fetch("dead"); d != nil; d = ch.Fetch("dead") {
						dead = append(dead, string(d.Body)+" "+fmt.Sprint(d.Headers["x-first-death-reason"]))
					}
					if got := fmt.Sprint(dead); got != c.dead {
						b.Errorf("dead %s", got)
					}
				})
			})
		}
	}
}

// A publish is answered with a nack if one target rejects it, although the others have stored it; a mandatory message is not
// returned for that reason (DL-11).
func TestDL11SeveralTargets(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Exchange("x", "fanout")
		for _, name := range []string{"all", "full", "also"} {
			args := amqp.Table{}
			if name == "full" {
				args = amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"}
			}
			ch.Declare(name, args)
			ch.Bind(name, "", "x")
		}
		// Confirms may be awaited in any order and for many publishes at once.
		var begun []*amqp.DeferredConfirmation
		for i := range 100 {
			begun = append(begun, ch.Begin("x", "", true, testkit.Text(fmt.Sprint(i))))
		}
		for i, d := range begun {
			if ack := ch.Await(d); ack != (i == 0) {
				b.Fatalf("publish %d: %v", i, ack)
			}
		}
		if a, f, l := len(ch.Drain("all")), len(ch.Drain("full")), len(ch.Drain("also")); a != 100 || f != 1 || l != 100 {
			b.Errorf("%d, %d, %d are stored", a, f, l)
		}
		if !ch.Publish("x", "", testkit.Text("room again")) {
			b.Error("a nack")
		}
		testkit.Silent(b, ch.Returns, ms)
	})
}

// The lower limit of argument and policy applies (POL-8), and a policy takes effect for the next publish (POL-9).
func TestDL10OverflowByPolicy(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-max-length": 5})
		for i := range 3 {
			ch.Publish("", "q", testkit.Text(fmt.Sprint(i)))
		}
		b.SetPolicy("p", `{"pattern":"q","definition":{"max-length":2,"overflow":"reject-publish"}}`)
		if ch.Publish("", "q", testkit.Text("no")) {
			b.Error("an ack above the limit")
		}
		if got := fmt.Sprint(ch.Drain("q")); got != "[0 1 2]" {
			b.Errorf("kept %s", got)
		}
	})
}
