package amqp10

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// TestDeliveryTime_RETRY2: a message that is modified with a delivery time is delivered again at that time, to the millisecond,
// with the annotation, and does not delay the next message; after a restart of the broker the time is the same.
func TestDeliveryTime_RETRY2(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		if _, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		c := connect(b, nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		for _, body := range []string{"1", "2"} {
			m := amqp.NewMessage([]byte(body))
			m.Header = &amqp.MessageHeader{Durable: true}
			c.send(s, m)
		}
		at := time.Now().Add(5 * time.Second).Truncate(time.Millisecond)
		m := c.next(r)
		if m == nil || string(m.GetData()) != "1" {
			t.Fatalf("got %v", m)
		}
		err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{Annotations: amqp.Annotations{"x-opt-delivery-time": at}})
		if err != nil {
			t.Fatal(err)
		}
		c.want(r, "2")
		_ = c.conn.Close()
		b.Restart(time.Second)
		c = connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		r = c.receiver("/queues/q", nil)
		b.Advance(time.Until(at) - time.Millisecond)
		if m := r.Prefetched(); m != nil {
			t.Fatalf("early: %v", m)
		}
		m = c.next(r)
		if m == nil || string(m.GetData()) != "1" || m.Header.DeliveryCount != 0 || m.Header.FirstAcquirer {
			t.Fatalf("got %+v", m)
		}
		if given, _ := m.Annotations["x-opt-delivery-time"].(time.Time); !given.Equal(at) {
			t.Errorf("the annotation is %v, want %v", m.Annotations["x-opt-delivery-time"], at)
		}
		if late := time.Since(at); late < 0 || late > time.Millisecond {
			t.Errorf("%v late", late)
		}
	})
}

// TestDeliveryCounts_DL9: the delivery count after a client of 0-9-1 settled the first delivery, in queues of both types. A
// basic.nack does not count as a failed delivery.
func TestDeliveryCounts_DL9(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		run(t, func(b *testkit.Bubble, c *client) {
			ch := b.Connect().Open()
			for name, args := range map[string]amqp091.Table{
				"q": {"x-queue-type": kind, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}, "dead": {"x-queue-type": kind},
			} {
				if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
					t.Fatal(err)
				}
			}
			for _, x := range []struct {
				name   string
				settle func(d amqp091.Delivery) error
				from   string
				count  uint32
			}{
				{"reject", func(d amqp091.Delivery) error { return d.Reject(true) }, "q", 1},
				{"reject, dead", func(d amqp091.Delivery) error { return d.Reject(false) }, "dead", 1},
				{"nack", func(d amqp091.Delivery) error { return d.Nack(false, true) }, "q", 0},
				{"nack, dead", func(d amqp091.Delivery) error { return d.Nack(false, false) }, "dead", 0},
			} {
				ch.Send("", "q", testkit.Text(x.name))
				synctest.Wait()
				d, ok, err := ch.Get("q", false)
				if err != nil || !ok || x.settle(d) != nil {
					t.Fatal(ok, err)
				}
				r := c.receiver("/queues/"+x.from, nil)
				m := c.next(r)
				if m == nil || string(m.GetData()) != x.name || m.Header.DeliveryCount != x.count || m.Header.FirstAcquirer {
					t.Fatalf("%s, %s: got %+v", kind, x.name, m)
				}
				if err := errors.Join(r.AcceptMessage(context.Background(), m), r.Close(context.Background())); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestDelayedRetries_RETRY1: retries are delayed by policy for clients of both protocols; a changed policy applies to messages
// requeued later.
func TestDelayedRetries_RETRY1(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("q", true, false, false, false, amqp091.Table{"x-queue-type": "quorum"}); err != nil {
			t.Fatal(err)
		}
		b.SetPolicy("retries", `{"pattern":"^q$","apply-to":"queues","definition":{"delayed-retry-type":"all","delayed-retry-min":3000,"delayed-retry-max":5000}}`)
		c.put(c.sender("/queues/q", nil), "1")
		get := func() amqp091.Delivery {
			t.Helper()
			d, ok, err := ch.Get("q", false)
			if err != nil || !ok {
				t.Fatalf("got %v, %v", ok, err)
			}
			return d
		}
		if err := get().Reject(true); err != nil {
			t.Fatal(err)
		}
		b.Advance(2999 * time.Millisecond)
		if i := b.Describe("q"); i.Ready != 0 || i.Postponed != 1 || i.Deferred != 1 {
			t.Errorf("%d ready, %d postponed, %d deferred", i.Ready, i.Postponed, i.Deferred)
		}
		b.Advance(time.Millisecond)
		r := c.receiver("/queues/q", nil)
		m := c.next(r)
		if m == nil {
			t.Fatal("it is not delivered again")
		}
		if err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{DeliveryFailed: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the policy takes another way to the queue
		b.SetPolicy("retries", `{"pattern":"^q$","apply-to":"queues","definition":{"delayed-retry-type":"disabled"}}`)
		returned := time.Now()
		for m = nil; m == nil && time.Since(returned) < 10*time.Second; {
			m = c.next(r)
		}
		if after := time.Since(returned); m == nil || after < 4999*time.Millisecond || after > 5001*time.Millisecond {
			t.Fatalf("%v after %v", m, after)
		}
		if err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{DeliveryFailed: true}); err != nil {
			t.Fatal(err)
		}
		c.want(r, "1")
	})
}
