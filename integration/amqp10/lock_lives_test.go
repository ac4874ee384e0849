package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// endings are the ways in which the link of a receiver can end.
var endings = map[string]func(c *client, r *amqp.Receiver) error{
	"link closed":   func(_ *client, r *amqp.Receiver) error { return r.Close(context.Background()) },
	"session ended": func(c *client, _ *amqp.Receiver) error { return c.session.Close(context.Background()) },
	"connection lost": func(c *client, _ *amqp.Receiver) error {
		_ = c.conn.Close() // the pipe is closed before the broker answers
		return nil
	},
}

// Messages stay locked when the link that received them ends: they can be settled and renewed by their lock tokens, and are
// delivered again when their locks expire, not earlier. (LOCK-10)
func TestEntity_LockOutlivesItsLink(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *testkit.Bubble, other *client) {
				entity(b)
				c := connect(b, nil)
				defer func() { _ = c.conn.Close() }()
				other.put(other.sender("q", nil), "1", "2", "3")
				r := c.receiver("q", second(3))
				var all []*amqp.Message
				for range 3 {
					all = append(all, c.next(r))
				}
				until, _ := all[1].Annotations["x-opt-locked-until"].(time.Time)
				b.Advance(10 * time.Second)
				if err := end(c, r); err != nil {
					t.Fatal(err)
				}
				b.Advance(time.Second)
				if i := b.Describe("q"); i.Unacked != 3 || i.Ready != 0 || i.Consumers != 0 {
					t.Fatalf("%d unacked, %d ready, %d consumers", i.Unacked, i.Ready, i.Consumers)
				}
				n, again := other.node("q"), other.receiver("q", second(3))
				if code := n.dispose("completed", []amqp.UUID{tokenOf(all[0])}, nil); code != 200 {
					t.Error("settled:", code)
				}
				if code, _ := n.ask("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{tokenOf(all[2])}}); code != 200 {
					t.Error("renewed:", code)
				}
				renewed := time.Now().Add(time.Minute)
				if b.Advance(time.Until(until) - time.Millisecond); b.Describe("q").Unacked != 2 {
					t.Error("requeued early")
				}
				b.Advance(time.Millisecond)
				if m := other.next(again); m == nil || string(m.GetData()) != "2" || m.Header.DeliveryCount != 1 || !time.Now().Before(until.Add(2*time.Millisecond)) {
					t.Fatalf("%+v at %s", m, time.Now())
				}
				if code := n.dispose("completed", []amqp.UUID{tokenOf(all[1])}, nil); code != 410 {
					t.Error("its lock has run out:", code)
				}
				b.Advance(time.Until(renewed) - 2*time.Millisecond)
				if early := b.Describe("q").Unacked; early != 2 {
					t.Error("the renewed one was requeued early")
				}
				if m := other.next(again); m == nil || string(m.GetData()) != "3" {
					t.Fatalf("%+v", m)
				}
			})
		})
	}
}

// The messages of a session are requeued at once, since its lock ends with the link; so are messages that were not
// transferred, and messages of RabbitMQ's dialect. (LOCK-10)
func TestEntity_LockEndsWithItsLink(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *testkit.Bubble, other *client) {
				entity(b)
				sessions(b)
				other.sendsTo("s", "A", "1")
				other.put(other.sender("q", nil), "1")
				for queue, source := range map[string]string{"s": "s", "q": "/queues/q"} {
					c := connect(b, nil)
					o := ofSession("A")
					if queue == "q" {
						o = &amqp.ReceiverOptions{}
					}
					r := c.receiver(source, o)
					if queue == "s" {
						if err := r.IssueCredit(1); err != nil {
							t.Fatal(err)
						}
					}
					if c.next(r) == nil {
						t.Fatal("nothing")
					}
					if err := end(c, r); err != nil {
						t.Fatal(err)
					}
					b.Advance(time.Second)
					if i := b.Describe(queue); i.Unacked != 0 || i.Ready != 1 {
						t.Errorf("%s: %d unacked, %d ready", queue, i.Unacked, i.Ready)
					}
					_ = c.conn.Close()
				}
			})
		})
	}
}
