package integration

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// client is a connection with a channel in confirm mode, typical of applications.
type client struct {
	*testing.T
	*amqp.Channel
	conn     *amqp.Connection
	returned chan amqp.Return
}

// dial opens a connection, which is closed at the end of the test.
func (b *broker) dial() *client {
	b.Helper()
	return b.dialWith(amqp.Config{})
}

func (b *broker) dialWith(cfg amqp.Config) *client {
	b.Helper()
	return dialTo(b.T, b.amqp, cfg)
}

// dialTo connects to a broker of any kind.
func dialTo(t *testing.T, address string, cfg amqp.Config) *client {
	t.Helper()
	conn, err := amqp.DialConfig("amqp://guest:guest@"+address+"/", cfg)
	if err != nil {
		t.Fatal(err)
	}
	// It may be closed already. A blocked connection gets no answer.
	t.Cleanup(func() { _ = conn.CloseDeadline(time.Now().Add(patience)) })
	c := &client{T: t, conn: conn}
	c.open()
	return c
}

// open opens a new channel after an error has closed the previous one.
func (c *client) open() {
	c.Helper()
	var err error
	c.Channel, err = c.conn.Channel()
	c.must(err)
	c.must(c.Confirm(false))
	c.returned = c.NotifyReturn(make(chan amqp.Return, 1))
}

func (c *client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// fails checks the error that closed the channel or the connection, and opens
// another channel if that is possible.
func (c *client) fails(err error, code int, text string) {
	c.Helper()
	var e *amqp.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Reason, text) {
		c.Errorf("got %v, want %d with %q", err, code, text)
	}
	if !c.conn.IsClosed() {
		c.open()
	}
}

// queue declares a transient queue and returns its name.
func (c *client) queue(name string, args amqp.Table) string {
	c.Helper()
	q, err := c.QueueDeclare(name, false, false, false, false, args)
	c.must(err)
	return q.Name
}

// put publishes a message, which must be confirmed.
func (c *client) put(exchange, key string, m amqp.Publishing) {
	c.Helper()
	if !c.offer(exchange, key, false, m) {
		c.Fatalf("publish to %q %q was refused", exchange, key)
	}
}

// offer publishes a message and returns whether it was acked.
func (c *client) offer(exchange, key string, mandatory bool, m amqp.Publishing) bool {
	c.Helper()
	confirm, err := c.PublishWithDeferredConfirm(exchange, key, mandatory, false, m)
	c.must(err)
	select {
	case <-confirm.Done():
		return confirm.Acked()
	case <-time.After(patience):
		c.Fatal("no confirm")
		return false
	}
}

// send publishes bodies to a queue.
func (c *client) send(queue string, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		c.put("", queue, amqp.Publishing{Body: []byte(body)})
	}
}

// consume starts a consumer on this channel.
func (c *client) consume(queue string, autoAck bool) <-chan amqp.Delivery {
	c.Helper()
	d, err := c.Consume(queue, "", autoAck, false, false, false, nil)
	c.must(err)
	return d
}

// next waits for a delivery.
func (c *client) next(from <-chan amqp.Delivery) amqp.Delivery {
	c.Helper()
	select {
	case d, ok := <-from:
		if !ok {
			c.Fatal("the consumer was cancelled")
		}
		return d
	case <-time.After(patience):
		c.Fatal("no delivery")
		return amqp.Delivery{}
	}
}

// bodies receives len(want) deliveries and compares their bodies.
func (c *client) bodies(from <-chan amqp.Delivery, want ...string) {
	c.Helper()
	var got []string
	for range want {
		got = append(got, string(c.next(from).Body))
	}
	if !slices.Equal(got, want) {
		c.Errorf("got %q, want %q", got, want)
	}
}

// holds checks the contents of a queue by consuming them.
func (c *client) holds(queue string, want ...string) {
	c.Helper()
	var got []string
	for {
		d, ok, err := c.Get(queue, true)
		c.must(err)
		if !ok {
			break
		}
		got = append(got, string(d.Body))
	}
	if !slices.Equal(got, want) {
		c.Errorf("%s: got %q, want %q", queue, got, want)
	}
}

// taken consumes all messages of a queue, none of which may expire. It uses a consumer, because each get waits for its answer.
func (c *client) taken(queue string) iter.Seq[*amqp.Delivery] {
	c.Helper()
	return func(yield func(*amqp.Delivery) bool) {
		c.Helper()
		q, err := c.QueueDeclarePassive(queue, false, false, false, false, nil)
		c.must(err)
		from, err := c.Consume(queue, "all of "+queue, true, false, false, false, nil)
		c.must(err)
		for range q.Messages {
			d := c.next(from)
			if !yield(&d) {
				c.Fatal("all of a queue was asked for")
			}
		}
		c.must(c.Cancel("all of "+queue, false))
		for d := range from {
			c.Errorf("%s: more than the %d messages that it had: %.30q", queue, q.Messages, d.Body)
		}
	}
}

// exists reports whether a queue exists. The passive declare renews its lease.
func (c *client) exists(queue string) bool {
	c.Helper()
	_, err := c.QueueDeclarePassive(queue, false, false, false, false, nil)
	var e *amqp.Error
	switch {
	case err == nil:
		return true
	case errors.As(err, &e) && e.Code == amqp.NotFound:
		c.open()
		return false
	}
	c.Fatal(err)
	return false
}

// takes reports whether a publish to the queue is routed. It renews no lease.
func (c *client) takes(queue string) bool {
	c.Helper()
	if !c.offer("", queue, true, amqp.Publishing{Type: "probe"}) {
		c.Fatal("a publish was refused")
	}
	select {
	case <-c.returned: // arrives before the confirm
		return false
	default:
		return true
	}
}
