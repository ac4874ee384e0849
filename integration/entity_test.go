package integration

import (
	"fmt"
	"path/filepath"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// durable declares a durable queue.
func (c *client) durable(name string, args amqp.Table) string {
	c.Helper()
	_, err := c.QueueDeclare(name, true, false, false, false, args)
	c.must(err)
	return name
}

// persistent publishes persistent messages to a queue.
func (c *client) persistent(queue string, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		c.put("", queue, amqp.Publishing{Body: []byte(body), DeliveryMode: amqp.Persistent})
	}
}

// A dead-letter queue exists as soon as its queue does, under a policy by which everything else expires; it survives a crash and
// the deletion of its queue.
func TestDL1_DeadLetterQueue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	c := b.dial()
	for i := range 20 {
		q := c.durable(fmt.Sprint("argument", i), amqp.Table{"x-dead-letter-queue": true, "x-message-ttl": int32(0)})
		c.persistent(q, "at once")
	}
	c.durable("policy", nil)
	b.verb(0, "set_policy", "all", ".*", `{"dead-letter-queue":true,"message-ttl":0,"expires":60000}`)
	c.persistent("policy", "a", "b")
	dead := func(of string) string {
		t.Helper()
		d := c.next(c.consume(of+".dlq", true))
		if d.Headers["x-first-death-queue"] != of || d.Headers["x-first-death-reason"] != "expired" {
			t.Errorf("%v", d.Headers)
		}
		return string(d.Body)
	}
	for i := range 10 {
		if got := dead(fmt.Sprint("argument", i)); got != "at once" {
			t.Errorf("%s", got)
		}
	}
	eventually(t, "the dead letters are there", func() bool {
		q, err := c.QueueDeclarePassive("policy.dlq", true, false, false, false, nil)
		c.must(err)
		return q.Messages == 2
	})
	c.durable("policy.dlq", nil) // may be redeclared with its own properties
	_, err := c.QueueDelete("policy", false, false, false)
	c.must(err)
	b.kill()

	b = startIn(t, dir)
	c = b.dial()
	c.holds("policy.dlq", "a", "b")
	if got := dead("argument19"); got != "at once" {
		t.Errorf("%s", got)
	}
	_, err = c.QueueDelete("argument19.dlq", false, false, false)
	c.must(err)
	c.persistent("argument19", "again") // perhaps before the dead-letter queue is recreated
	_, err = c.QueueDeclarePassive("argument19.dlq", true, false, false, false, nil)
	c.must(err)
	if got := dead("argument19"); got != "again" {
		t.Errorf("%s", got)
	}
}

// Messages are forwarded by argument and by policy, present ones too, unchanged, through four queues and no further; messages
// that cannot be forwarded stay, also after a crash.
func TestForward(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	c := b.dial()
	c.must(c.ExchangeDeclare("to", "fanout", true, false, false, false, nil))
	c.durable("target", nil)
	c.must(c.QueueBind("target", "", "to", false, nil))
	c.durable("argument", amqp.Table{"x-forward-to": "to"})
	c.durable("policy", nil)
	c.persistent("policy", "backlog 1", "backlog 2")
	b.verb(0, "set_policy", "on", "^policy$", `{"forward-to":"to"}`)
	c.put("", "argument", amqp.Publishing{
		Body: []byte("m"), DeliveryMode: amqp.Persistent, Expiration: "60000", MessageId: "id", Headers: amqp.Table{"h": "v"},
	})
	deliveries := c.consume("target", true)
	seen := map[string]amqp.Delivery{}
	for range 3 {
		d := c.next(deliveries)
		seen[string(d.Body)] = d
	}
	d := seen["m"]
	if len(seen) != 3 || d.Exchange != "" || d.RoutingKey != "argument" || d.Expiration != "60000" || d.MessageId != "id" || len(d.Headers) != 1 {
		t.Errorf("%+v", d)
	}

	c.durable("hop1", amqp.Table{"x-forward-to": "h2"})
	for n := 2; n <= 6; n++ {
		c.must(c.ExchangeDeclare(fmt.Sprint("h", n), "fanout", true, false, false, false, nil))
		args := amqp.Table{"x-forward-to": fmt.Sprint("h", n+1), "x-dead-letter-queue": true}
		if n == 6 {
			args = nil
		}
		c.durable(fmt.Sprint("hop", n), args)
		c.must(c.QueueBind(fmt.Sprint("hop", n), "", fmt.Sprint("h", n), false, nil))
	}
	c.persistent("hop1", "far")
	d = c.next(c.consume("hop5.dlq", true))
	if d.Headers["x-first-death-reason"] != "hops" || d.Headers["x-first-death-queue"] != "hop5" {
		t.Errorf("%v", d.Headers)
	}

	c.must(c.ExchangeDelete("to", false, false))
	c.persistent("argument", "waits")
	b.kill()
	b = startIn(t, dir)
	c = b.dial()
	c.must(c.ExchangeDeclare("to", "fanout", true, false, false, false, nil))
	c.must(c.QueueBind("target", "", "to", false, nil))
	if d = c.next(c.consume("target", true)); string(d.Body) != "waits" || d.Redelivered {
		t.Errorf("%s %v", d.Body, d.Redelivered)
	}
}
