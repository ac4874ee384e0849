package integration

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestPublishConsumeAck(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	q := c.queue("", nil)
	c.must(c.Qos(3, 0, false))
	deliveries := c.consume(q, false)
	for i := range 10 {
		c.put("", q, amqp.Publishing{
			ContentType: "text/plain", MessageId: fmt.Sprint(i), Headers: amqp.Table{"n": int32(i), "deep": amqp.Table{"list": []any{"a", int64(1), true}}},
		})
	}
	for i := range 10 {
		d := c.next(deliveries)
		deep, _ := d.Headers["deep"].(amqp.Table)
		list, _ := deep["list"].([]any)
		if d.MessageId != fmt.Sprint(i) || d.ContentType != "text/plain" || d.Headers["n"] != int32(i) || d.Redelivered ||
			len(list) != 3 || list[1] != int64(1) || d.RoutingKey != q || d.DeliveryTag != uint64(i+1) {
			t.Errorf("%+v", d)
		}
		if i%3 == 2 || i == 9 {
			c.must(d.Ack(true))
		}
	}
	c.must(c.Close())
	c.open()
	c.holds(q)
}

func TestPublishConfirms(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	var all []*amqp.DeferredConfirmation
	for range 5000 {
		confirm, err := c.PublishWithDeferredConfirm("", q, false, false, amqp.Publishing{Body: []byte("x")})
		c.must(err)
		all = append(all, confirm)
	}
	for _, confirm := range all {
		if !confirm.Wait() {
			t.Fatalf("%d was refused", confirm.DeliveryTag)
		}
	}
	if n, err := c.QueuePurge(q, false); n != 5000 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func TestPublishMandatory(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	if !c.offer("amq.direct", "nobody", true, amqp.Publishing{MessageId: "m", Body: []byte("back")}) {
		t.Error("not confirmed")
	}
	r := <-c.returned
	if r.ReplyCode != amqp.NoRoute || r.ReplyText != "NO_ROUTE" || r.Exchange != "amq.direct" || r.RoutingKey != "nobody" ||
		r.MessageId != "m" || string(r.Body) != "back" {
		t.Errorf("%+v", r)
	}
	c.put("amq.direct", "nobody", amqp.Publishing{}) // unroutable: dropped
	closed := c.NotifyClose(make(chan *amqp.Error, 1))
	_, err := c.PublishWithDeferredConfirm("nowhere", "", false, false, amqp.Publishing{})
	c.must(err)
	c.fails(<-closed, amqp.NotFound, "NOT_FOUND - no exchange 'nowhere' in vhost '/'")
}

// Bodies of every size arrive unchanged, in frames of every size: copied or, if large, passed by reference.
func TestPublishBodiesOverManyFrames(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, frameMax := range []int{4096, 10_000, 131072} {
		c := b.dialWith(amqp.Config{FrameSize: frameMax})
		if got := c.conn.Config.FrameSize; got != frameMax {
			t.Errorf("frame size %d", got)
		}
		for _, autoAck := range []bool{false, true} {
			q := c.queue("", nil)
			deliveries := c.consume(q, autoAck)
			for _, size := range []int{0, 1, frameMax - 9, frameMax - 8, frameMax - 7, 3 * (frameMax - 8), 1 << 20, 9 << 20} {
				body := make([]byte, size)
				for i := range body {
					body[i] = byte(rand.Uint32())
				}
				c.put("", q, amqp.Publishing{Body: body})
				if d := c.next(deliveries); !bytes.Equal(d.Body, body) {
					t.Errorf("%d bytes in frames of %d came as %d", size, frameMax, len(d.Body))
				}
			}
		}
	}
}

func TestPublishTooLarge(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	closed := c.NotifyClose(make(chan *amqp.Error, 1))
	_, _ = c.PublishWithDeferredConfirm("", q, false, false, amqp.Publishing{Body: make([]byte, 17<<20)}) // may fail because of the close
	c.fails(<-closed, amqp.PreconditionFailed, "larger than")
	c.send(q, "small")
	c.holds(q, "small")
}

func TestGet(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	if _, ok, err := c.Get(q, false); ok || err != nil {
		t.Errorf("an empty queue gave %v %v", ok, err)
	}
	c.send(q, "a", "b", "c")
	d, ok, err := c.Get(q, false)
	if !ok || err != nil || string(d.Body) != "a" || d.MessageCount != 2 || d.Redelivered {
		t.Fatalf("%v %v %+v", ok, err, d)
	}
	c.must(d.Nack(false, true))
	d, _, err = c.Get(q, false)
	c.must(err)
	if string(d.Body) != "a" || !d.Redelivered {
		t.Errorf("after requeue %+v", d)
	}
	c.must(d.Ack(false))
	c.holds(q, "b", "c")
	closed := c.NotifyClose(make(chan *amqp.Error, 1))
	c.must(c.Ack(99, false))
	c.fails(<-closed, amqp.PreconditionFailed, "unknown delivery tag 99")
}

func TestNackRequeueKeepsPositions(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	q := c.queue("", nil)
	c.send(q, "1", "2", "3", "4")
	var tags []amqp.Delivery
	for range 3 {
		d, _, err := c.Get(q, false)
		c.must(err)
		tags = append(tags, d)
	}
	c.must(tags[1].Nack(false, true))
	c.must(tags[0].Reject(true))
	d, _, err := c.Get(q, true)
	c.must(err)
	if string(d.Body) != "1" || !d.Redelivered {
		t.Errorf("%+v", d)
	}
	c.must(c.Close()) // requeues 3
	c.open()
	c.holds(q, "2", "3", "4")
}

func TestRecover(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	c.send(q, "again")
	deliveries := c.consume(q, false)
	c.next(deliveries)
	//lint:ignore SA1019 old clients still do it
	c.must(c.Recover(true))
	if d := c.next(deliveries); !d.Redelivered {
		t.Errorf("%+v", d)
	}
}

func TestCancelKeepsUnacknowledged(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	c.send(q, "held", "left")
	c.must(c.Qos(1, 0, false))
	deliveries, err := c.Consume(q, "tag", false, false, false, false, nil)
	c.must(err)
	d := c.next(deliveries)
	c.must(c.Cancel("tag", false))
	c.holds(q, "left")
	c.must(d.Ack(false))
	c.must(c.Close())
	c.open()
	c.holds(q)
}

// The connection is lost, not only the channel: all unacked messages are requeued.
func TestLostConnectionGivesBack(t *testing.T) {
	t.Parallel()
	b := start(t)
	c, other := b.dial(), b.dial()
	q := c.queue("work", nil)
	c.send(q, "a", "b")
	deliveries := c.consume(q, false)
	c.next(deliveries)
	c.must(c.conn.Close())
	got := other.consume(q, true)
	for _, want := range []string{"a", "b"} {
		if d := other.next(got); string(d.Body) != want || !d.Redelivered {
			t.Errorf("%s: %+v", want, d)
		}
	}
}
