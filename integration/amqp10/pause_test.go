package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// TestPauseReceivers_PAUSE2: receivers of AMQP 1.0, on addresses of RabbitMQ and of Azure Service Bus and with sessions, get nothing from a paused queue, stay
// attached, and get the messages afterwards; drained credit is answered.
func TestPauseReceivers_PAUSE2(t *testing.T) {
	for name, from := range map[string]string{"RabbitMQ": "/queues/q", "Service Bus": "q", "sessions": "q"} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *testkit.Bubble, c *client) {
				args := amqp091.Table{"x-consumer-timeout": int32(60_000)}
				if name == "sessions" {
					args["x-queue-type"], args["x-sessions"] = "quorum", true
				}
				if _, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, args); err != nil {
					t.Fatal(err)
				}
				until := time.Now().Add(30 * time.Second)
				b.SetPolicy("p", `{"pattern":"^q$","definition":{"paused-until":"`+until.UTC().Format(time.RFC3339Nano)+`"}}`)
				options := &amqp.ReceiverOptions{Credit: 10}
				if name == "sessions" {
					options = ofSession("s")
				}
				r := c.receiver(from, options)
				if name == "sessions" {
					if err := r.IssueCredit(10); err != nil {
						t.Fatal(err)
					}
					c.sendsTo("q", "s", "1")
				} else {
					c.put(c.sender(from, nil), "1")
				}
				b.Advance(time.Until(until) - time.Millisecond)
				if m := r.Prefetched(); m != nil {
					t.Fatalf("early: %s", m.GetData())
				}
				m := c.next(r)
				if m == nil || string(m.GetData()) != "1" || time.Since(until) < 0 {
					t.Fatalf("%v, %v after the end", m, time.Since(until))
				}
				if err := r.AcceptMessage(context.Background(), m); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
