package testkit

import (
	"context"
	"testing/synctest"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Channel is an AMQP channel whose helpers fail the test on any error. It also has the methods of amqp091-go, for tests
// of errors.
type Channel struct {
	*amqp.Channel
	// Closed gets the broker's channel.close.
	Closed <-chan *amqp.Error
	// Cancelled gets the tags of consumers that the broker cancelled.
	Cancelled <-chan string
	// Returns gets basic.return.
	Returns <-chan amqp.Return
	b       *Bubble
	tags    int
}

// Declare declares a transient queue with arguments and returns its state.
func (c *Channel) Declare(name string, args amqp.Table) amqp.Queue {
	c.b.Helper()
	q, err := c.QueueDeclare(name, false, false, false, false, args)
	if err != nil {
		c.b.Fatalf("queue.declare %s: %v", name, err)
	}
	return q
}

// Exchange declares a transient exchange.
func (c *Channel) Exchange(name, kind string) {
	c.b.Helper()
	if err := c.ExchangeDeclare(name, kind, false, false, false, false, nil); err != nil {
		c.b.Fatalf("exchange.declare %s: %v", name, err)
	}
}

// Bind binds a queue.
func (c *Channel) Bind(queue, key, exchange string) {
	c.b.Helper()
	if err := c.QueueBind(queue, key, exchange, false, nil); err != nil {
		c.b.Fatalf("queue.bind %s: %v", queue, err)
	}
}

// Send publishes without waiting for anything.
func (c *Channel) Send(exchange, key string, m amqp.Publishing) {
	c.b.Helper()
	if err := c.PublishWithContext(context.Background(), exchange, key, false, false, m); err != nil {
		c.b.Fatalf("basic.publish %q: %v", m.Body, err)
	}
}

// Text returns a message with a body.
func Text(body string) amqp.Publishing { return amqp.Publishing{Body: []byte(body)} }

// Expiring returns a message with a body and an expiration in ms.
func Expiring(body, ttl string) amqp.Publishing {
	return amqp.Publishing{Body: []byte(body), Expiration: ttl}
}

// Confirms puts the channel into confirm mode.
func (c *Channel) Confirms() {
	c.b.Helper()
	if err := c.Confirm(false); err != nil {
		c.b.Fatal("confirm.select:", err)
	}
}

// Publish publishes in confirm mode, waits for the answer, and reports whether it
// was an ack.
func (c *Channel) Publish(exchange, key string, m amqp.Publishing) bool {
	c.b.Helper()
	return c.Await(c.Begin(exchange, key, false, m))
}

// Begin publishes in confirm mode.
func (c *Channel) Begin(exchange, key string, mandatory bool, m amqp.Publishing) *amqp.DeferredConfirmation {
	c.b.Helper()
	d, err := c.PublishWithDeferredConfirm(exchange, key, mandatory, false, m)
	if err != nil {
		c.b.Fatalf("basic.publish %q: %v", m.Body, err)
	}
	return d
}

// Await waits for the answer to a publish.
func (c *Channel) Await(d *amqp.DeferredConfirmation) bool {
	c.b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ack, err := d.WaitContext(ctx)
	if err != nil {
		c.b.Fatalf("no confirm of publish %d: %v", d.DeliveryTag, err)
	}
	return ack
}

// Get is basic.get after all pending messages have arrived, such as dead letters of a message that is confirmed.
func (c *Channel) Get(queue string, autoAck bool) (amqp.Delivery, bool, error) {
	synctest.Wait()
	return c.Channel.Get(queue, autoAck)
}

// Fetch is Get with automatic acknowledgement; it returns nil if the queue is empty.
func (c *Channel) Fetch(queue string) *amqp.Delivery {
	c.b.Helper()
	d, ok, err := c.Get(queue, true)
	if err != nil {
		c.b.Fatalf("basic.get %s: %v", queue, err)
	}
	if !ok {
		return nil
	}
	return &d
}

// Drain fetches all ready messages and returns their bodies.
func (c *Channel) Drain(queue string) []string {
	c.b.Helper()
	bodies := []string{}
	for d := c.Fetch(queue); d != nil; d = c.Fetch(queue) {
		bodies = append(bodies, string(d.Body))
	}
	return bodies
}

// Subscribe consumes a queue with acknowledgements, with at most prefetch (0
// for any number) deliveries outstanding.
func (c *Channel) Subscribe(queue string, prefetch int) <-chan amqp.Delivery {
	c.b.Helper()
	if err := c.Qos(prefetch, 0, false); err != nil {
		c.b.Fatal("basic.qos:", err)
	}
	return c.consume(queue, false)
}

// Tail consumes a queue without acknowledgements.
func (c *Channel) Tail(queue string) <-chan amqp.Delivery {
	c.b.Helper()
	return c.consume(queue, true)
}

func (c *Channel) consume(queue string, noAck bool) <-chan amqp.Delivery {
	c.b.Helper()
	c.tags++
	tag := queue + "-" + string(rune('a'+c.tags-1))
	deliveries, err := c.Consume(queue, tag, noAck, false, false, false, nil)
	if err != nil {
		c.b.Fatalf("basic.consume %s: %v", queue, err)
	}
	return deliveries
}

// Arrival is a delivery and its time, in virtual time since the bubble began.
type Arrival struct {
	amqp.Delivery
	At time.Duration
}

// Watch records the time of each delivery of a queue, without acknowledgements.
func (c *Channel) Watch(queue string) <-chan Arrival {
	c.b.Helper()
	arrivals := make(chan Arrival, 1<<13)
	deliveries := c.Tail(queue)
	go func() {
		defer close(arrivals)
		for d := range deliveries {
			arrivals <- Arrival{d, c.b.Elapsed()}
		}
	}()
	return arrivals
}
