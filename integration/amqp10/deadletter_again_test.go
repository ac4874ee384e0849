package amqp10

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"

	"github.com/Azure/go-amqp"
)

// notAllowed reports whether err is amqp:not-allowed with a text that contains why.
func notAllowed(err error, why string) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Condition == amqp.ErrCondNotAllowed && strings.Contains(e.Description, why)
}

// A receiver of an entity cannot dead-letter a message that has nowhere to go: one of a dead-letter queue, and one of a queue
// without a dead-letter queue. It gets an error, and the message stays locked until its lock ends, by its link, by its lock token
// and in a transaction. A client of RabbitMQ's dialect drops such a message by rejecting it.
func TestEntity_DeadLetterNowhere_SBE14(t *testing.T) {
	for address, why := range map[string]string{"q/$DeadLetterQueue": "cannot be dead-lettered again", "plain": "has no dead-letter queue"} {
		t.Run(address, func(t *testing.T) {
			run(t, func(b *testkit.Bubble, c *client) {
				b.Log.Allow("not settled in time")
				ctx := context.Background()
				entity(b)
				if _, err := b.Connect().Open().QueueDeclare("plain", true, false, false, false, nil); err != nil {
					t.Fatal(err)
				}
				c.put(c.sender("plain", nil), "1", "2", "3")
				c.put(c.sender("q", nil), "1", "2", "3")
				alive := c.receiver("q", second(3))
				for range 3 {
					if err := alive.RejectMessage(ctx, c.next(alive), nil); err != nil {
						t.Fatal(err)
					}
				}

				r := c.receiver(address, second(1))
				for range 2 {
					if err := r.RejectMessage(ctx, c.next(r), nil); !notAllowed(err, why) {
						t.Errorf("by its link: %v", err)
					}
				}
				n := c.node(address)
				deferred := c.deferAll(r, 1)
				_, _, tokens := n.numbered(deferred...)
				if code := n.dispose("suspended", tokens, nil); code != 400 {
					t.Errorf("by its token: %d", code)
				}
				if code := n.dispose("completed", tokens, nil); code != 200 {
					t.Errorf("its lock has gone: %d", code)
				}
				_, answer := n.ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(10)})
				if all, _ := n.messages(answer); len(all) != 2 {
					t.Errorf("%d messages are left, want 2", len(all))
				}
				if err := r.Close(ctx); err != nil { // its messages stay locked if they have locks
					t.Error(err)
				}
				b.Advance(2 * time.Minute)

				x := transacts(t, b, "/queues/q", address)
				defer func() { _ = x.Close() }()
				x.want(amqp10.CodeTransfer)
				txn := x.declare()
				x.settle(txn, 0, amqp10.Rejected)
				if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
					t.Errorf("in a transaction: %q", s)
				}
				_ = x.Close()
				b.Advance(2 * time.Minute)
				c.want(c.receiver("/queues/"+strings.Replace(address, "/$DeadLetterQueue", ".dlq", 1), nil), "1", "2")
			})
		})
	}
}
