package broker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// An auto-delete queue is deleted with its last consumer, however that ends, and not before it had one.
func TestAutoDelete(t *testing.T) {
	for name, leave := range map[string]func(*testkit.Client, *testkit.Channel) error{
		"cancel":  func(_ *testkit.Client, ch *testkit.Channel) error { return ch.Cancel("q-a", false) },
		"channel": func(_ *testkit.Client, ch *testkit.Channel) error { return ch.Close() },
		"client":  func(c *testkit.Client, _ *testkit.Channel) error { return c.Close() },
		"cut":     func(c *testkit.Client, _ *testkit.Channel) error { return c.Socket.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				if _, err := ch.QueueDeclare("q", false, true, false, false, nil); err != nil {
					t.Fatal(err)
				}
				client := b.Connect()
				consumer := client.Open()
				consumer.Tail("q")
				another := b.Connect().Open()
				another.Tail("q")
				if err := leave(client, consumer); err != nil {
					t.Fatal(err)
				}
				b.Advance(time.Hour)
				if b.Queue("q") == nil {
					t.Fatal("gone before its last consumer")
				}
				if err := another.Cancel("q-a", false); err != nil {
					t.Fatal(err)
				}
				if b.Queue("q") != nil {
					t.Error("still there")
				}
			})
		})
	}
}

// Exclusive queues are deleted before the client sees its connection closed, and soon after a connection was cut.
func TestExclusiveReleased(t *testing.T) {
	for name, leave := range map[string]func(*testkit.Client){
		"close": (*testkit.Client).Leave,
		"cut":   (*testkit.Client).Cut,
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				owner := b.Connect()
				ch := owner.Open()
				for _, q := range []string{"a", "b"} {
					if _, err := ch.QueueDeclare(q, false, false, true, false, nil); err != nil {
						t.Fatal(err)
					}
				}
				ch.Bind("a", "k", "amq.direct")
				other := b.Connect()
				_, _, err := other.Open().Get("a", true)
				var e *amqp.Error
				if !errors.As(err, &e) || e.Code != 405 {
					t.Errorf("get: %v", err)
				}
				leave(owner)
				if name == "cut" {
					synctest.Wait()
				}
				ch = other.Open()
				for _, q := range []string{"a", "b"} {
					ch.Declare(q, nil) // not exclusive: would be refused if the old queue existed
				}
				if n := b.VHost().Directory().Exchange([]byte("amq.direct")).Routes().Len(); n != 0 {
					t.Errorf("%d bindings are left", n)
				}
			})
		})
	}
}

// The consumers of a deleted queue are cancelled on all channels (LEASE-9), and messages that they hold may still be settled.
func TestLEASE9CancelNotification(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		owner := b.Connect().Open()
		owner.Declare("q", nil)
		owner.Send("", "q", testkit.Text("m"))
		consumer := b.Connect().Open()
		deliveries := consumer.Subscribe("q", 1)
		d := testkit.Receive(b, deliveries)
		n, err := owner.QueueDelete("q", false, false, false)
		if err != nil || n != 0 {
			t.Fatal(n, err)
		}
		if tag := testkit.Receive(b, consumer.Cancelled); tag != "q-a" {
			t.Errorf("tag %s", tag)
		}
		if err := d.Ack(false); err != nil {
			t.Fatal(err)
		}
		if err := consumer.Cancel("q-a", false); err != nil {
			t.Errorf("cancel of a cancelled consumer: %v", err)
		}
		consumer.Declare("still open", nil)
	})
}

// Unacked messages of a disconnected client are requeued at their positions, as redelivered.
func TestUnackedReturnInOrder(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		for _, m := range []string{"1", "2", "3", "4"} {
			ch.Publish("", "q", testkit.Text(m))
		}
		client := b.Connect()
		deliveries := client.Open().Subscribe("q", 3)
		for range 3 {
			testkit.Receive(b, deliveries)
		}
		client.Cut()
		synctest.Wait()
		for _, want := range []string{"1", "2", "3", "4"} {
			d := ch.Fetch("q")
			if d == nil || string(d.Body) != want || d.Redelivered != (want != "4") {
				t.Errorf("got %+v, want %s", d, want)
			}
		}
	})
}
