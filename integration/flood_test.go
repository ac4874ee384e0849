package integration

import (
	"testing"
	"time"

	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// 2,000 channels are opened and closed, with consumers and unacked deliveries.
func TestFloodOfChannels(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	c := b.dial()
	q := c.queue("", nil)
	c.send(q, "stays")
	for n := range 2000 {
		ch, err := c.conn.Channel()
		c.must(err)
		if n%4 == 0 {
			deliveries, err := ch.Consume(q, "", false, false, false, false, nil)
			c.must(err)
			if d := c.next(deliveries); string(d.Body) != "stays" {
				t.Fatalf("%+v", d)
			}
		}
		c.must(ch.Close())
	}
	c.holds(q, "stays")
	s.undisturbed(b)
	var all []*amqp.Channel // the maximum number at once
	for range 2046 {
		ch, err := c.conn.Channel()
		c.must(err)
		all = append(all, ch)
	}
	s.undisturbed(b)
	c.must(all[0].Close())
}

// A client that does not read affects only itself: a flood to another queue is delivered, the bystander is served, and the slow
// client gets everything when it reads again.
func TestFloodPastASlowReader(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	const count, size = 400, 128 << 10
	slow := b.connectRaw(t)
	slow.login(0)
	slow.mine("slow")
	slow.say(method(1, &protocol.BasicConsume{Queue: "slow", ConsumerTag: "t", NoAck: true}))
	expect[*protocol.BasicConsumeOk](slow)

	c, consumer := b.dial(), b.dial()
	body := make([]byte, size)
	for range count {
		c.put("", "slow", amqp.Publishing{Body: body})
	}
	s.undisturbed(b)

	q := c.queue("flood", nil)
	deliveries := consumer.consume(q, false)
	done := make(chan int, 1)
	go func() {
		n := 0
		for d := range deliveries {
			if n++; n%500 == 0 {
				if d.Ack(true) != nil {
					break
				}
			}
			if n == 20_000 {
				break
			}
		}
		done <- n
	}()
	for range 20_000 {
		c.must(c.Publish("", q, false, false, amqp.Publishing{Body: body[:100]}))
	}
	if n := <-done; n != 20_000 {
		t.Errorf("%d of 20,000 came", n)
	}
	s.undisturbed(b)

	slow.must(slow.SetDeadline(time.Now().Add(patience)))
	for n := 0; n < count*size; {
		f, err := slow.next()
		slow.must(err)
		if f.Type == protocol.FrameBody {
			n += len(f.Payload)
		}
	}
	s.undisturbed(b)
}
