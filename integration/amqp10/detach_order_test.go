package amqp10

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"
	protocol "candlemark/protocol/amqp10"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The next consumer gets the messages in order when a receiver leaves: unsettled messages are requeued before the queue delivers again (LOCK-9).
func TestDetach_Order_LOCK9(t *testing.T) {
	for name, arguments := range map[string]amqp091.Table{
		"ordinary": nil, "single active consumer": {"x-single-active-consumer": true}, "quorum": {"x-queue-type": "quorum", "x-single-active-consumer": true},
	} {
		for how, leave := range map[string]func(c *client, r *amqp.Receiver) error{
			"detach": func(_ *client, r *amqp.Receiver) error { return r.Close(context.Background()) },
			"end":    func(c *client, _ *amqp.Receiver) error { return c.session.Close(context.Background()) },
			"close": func(c *client, _ *amqp.Receiver) error {
				_ = c.conn.Close() // the pipe is closed, too
				return nil
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				run(t, func(b *testkit.Bubble, c *client) {
					const messages = 600
					leaver, first, second := twoReceivers(b, c, arguments, messages)
					if err := first.IssueCredit(messages / 2); err != nil {
						t.Fatal(err)
					}
					leaver.want(first, "0")
					if m := leaver.next(first); m == nil || string(m.GetData()) != "1" {
						t.Fatal(m)
					}
					if err := second.IssueCredit(messages); err != nil {
						t.Fatal(err)
					}
					if arguments == nil { // the second receiver has the other half already
						b.Advance(time.Second)
						for i := messages / 2; i < messages; i++ {
							c.want(second, fmt.Sprint(i))
						}
					} else if m := c.next(second); m != nil {
						t.Fatalf("got %s beside the active consumer", m.GetData())
					}
					if err := leave(leaver, first); err != nil {
						t.Fatal(err)
					}
					last := messages
					if arguments == nil {
						last = messages / 2
					}
					for i := 1; i < last; i++ {
						c.want(second, fmt.Sprint(i))
					}
				})
			})
		}
	}
}

// twoReceivers declares a queue with numbered messages. It returns the receiver of another client, and c's after it, both without credit.
func twoReceivers(b *testkit.Bubble, c *client, arguments amqp091.Table, messages int) (other *client, first, second *amqp.Receiver) {
	if _, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, arguments); err != nil {
		b.T.Fatal(err)
	}
	other = connect(b, nil)
	first = other.receiver("/queues/q", &amqp.ReceiverOptions{Credit: -1})
	second = c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: -1})
	s := c.sender("/queues/q", nil)
	for i := range messages {
		c.put(s, fmt.Sprint(i))
	}
	return other, first, second
}

// A receiver that does not settle in time is detached, and its other messages are requeued before another consumer gets any
// message.
func TestTimeout_Order_LOCK9(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		arguments := amqp091.Table{"x-single-active-consumer": true, "x-consumer-timeout": 10_000}
		const messages = 600
		_, first, second := twoReceivers(b, c, arguments, messages)
		for _, credit := range []uint32{1, messages / 2} {
			if err := first.IssueCredit(credit); err != nil {
				t.Fatal(err)
			}
			b.Advance(time.Second)
		}
		if err := second.IssueCredit(messages); err != nil {
			t.Fatal(err)
		}
		if m := c.next(second); m != nil {
			t.Fatalf("got %s beside the active consumer", m.GetData())
		}
		b.Advance(9 * time.Second)
		for i := range messages {
			c.want(second, fmt.Sprint(i))
		}
		if i := b.Describe("q"); i.Unacked+i.Ready != 0 || i.Consumers != 1 {
			t.Errorf("%d unacked, %d ready, %d consumers", i.Unacked, i.Ready, i.Consumers)
		}
		want := amqp.ErrCondDetachForced
		var e *amqp.LinkError
		if _, err := first.Receive(context.Background(), nil); !errors.As(err, &e) || e.RemoteErr == nil || e.RemoteErr.Condition != want {
			for ; err == nil; _, err = first.Receive(context.Background(), nil) {
			}
			if !errors.As(err, &e) || e.RemoteErr == nil || e.RemoteErr.Condition != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// Deliveries that a transaction settles stay with it when their link is detached.
func TestDetach_Transaction_LOCK9(t *testing.T) {
	for _, fail := range []bool{false, true} {
		transacting(t, func(b *testkit.Bubble, c *client, x *transactor) {
			txn := x.declare()
			x.settle(txn, 0, protocol.Accepted)
			x.send(2, &protocol.Detach{Handle: 1, Closed: true})
			x.want(protocol.CodeDetach)
			r := c.receiver("/queues/held", nil)
			c.want(r, "2")
			if i := b.Describe("held"); i.Unacked != 1 || i.Ready != 0 {
				t.Errorf("%d unacked, %d ready", i.Unacked, i.Ready)
			}
			if s := x.discharge(txn, fail); s != "" {
				t.Error(s)
			}
			if fail {
				c.want(r, "1")
			}
			b.Advance(time.Second)
			if i := b.Describe("held"); i.Unacked+i.Ready != 0 {
				t.Errorf("fail %v: %d unacked, %d ready", fail, i.Unacked, i.Ready)
			}
		})
	}
}
