package scenario

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The order in which events of one client in the same millisecond are listed.
const (
	answer = iota
	returned
	confirmed
	delivered
	cancelled
	closed
)

// client is a connection with a channel in confirm mode and, in dialects of AMQP 1.0, another connection with a session.
type client struct {
	*stage
	name string
	conn *testkit.Client
	ch   *testkit.Channel
	modern
	// unacked maps bodies of deliveries to functions that settle them: func(fate) error.
	unacked *sync.Map
	tags    map[string]string // of consumers, by queue
	// published are the bodies of the messages published on the channel; the first has number 1.
	published []string
	deaf      atomic.Bool // it records no more events
}

// named returns the client of that name, connected and with an open channel.
func (s *stage) named(name string) *client {
	c := s.clients[name]
	if c == nil {
		c = &client{stage: s, name: name, conn: s.Connect()}
		s.clients[name] = c
		go c.follow(c.conn.Closed, "connection")
	}
	if c.ch == nil || c.ch.IsClosed() {
		c.open()
	}
	return c
}

func (c *client) open() {
	c.ch, c.unacked, c.tags = c.conn.Open(), &sync.Map{}, map[string]string{}
	if c.dialect != amqp091 {
		c.openSession()
	}
	c.ch.Confirms()
	c.published = nil
	go c.confirms(c.ch.NotifyPublish(make(chan amqp.Confirmation, 1<<16)))
	go c.follow(c.ch.Closed, "channel")
	go func(cancels <-chan string) {
		for tag := range cancels {
			c.see(cancelled, "consumer cancelled:", tag, "")
		}
	}(c.ch.Cancelled)
	go func(returns <-chan amqp.Return) {
		for r := range returns {
			c.see(returned, "returned", string(r.Body), fmt.Sprintf(" (%d %s)", r.ReplyCode, r.ReplyText))
		}
	}(c.ch.Returns)
}

// confirms records the confirms of publishes, in order.
func (c *client) confirms(confirms <-chan amqp.Confirmation) {
	for n := range confirms {
		what := "refused"
		if n.Ack {
			what = "confirmed"
		}
		c.see(confirmed, what, c.published[n.DeliveryTag-1], "")
	}
}

// follow records the reason for which the broker closed a channel, or a connection with all its channels.
func (c *client) follow(why <-chan *amqp.Error, what string) {
	if err, ok := <-why; ok && err.Server && !(what == "channel" && c.conn.IsClosed()) {
		c.see(closed, what+" closed:", fmt.Sprint(err.Code, " ", err.Reason), "")
	}
}

func (c *client) see(order int, what, item, tail string) { c.seeFrom("", order, what, item, tail) }

// seeFrom records an event that is ordered only relative to events of the same queue.
func (c *client) seeFrom(queue string, order int, what, item, tail string) {
	if c.deaf.Load() {
		return
	}
	c.seen <- sight{at: c.Elapsed() - c.begin, who: c.name, order: order, queue: queue, what: what, item: item, tail: tail}
}

// try fails the test unless an error is the broker's, which is recorded by the channel that it closes.
func (c *client) try(err error) bool {
	if e, ok := err.(*amqp.Error); err != nil && (!ok || !e.Server) {
		c.Fatalf("%s: %v", c.name, err)
	}
	return err == nil
}

// got records a delivery, and keeps it if it has to be settled.
func (c *client) got(order int, queue string, d amqp.Delivery, unacked bool, tail string) {
	if unacked {
		c.unacked.Store(string(d.Body), func(to fate) error {
			if to == accept {
				return d.Ack(false)
			}
			return d.Reject(to == requeue)
		})
	}
	c.seeDelivery(order, queue, string(d.Body), tail, d.Redelivered, history(d.Headers))
}

// seeDelivery records a delivery in any dialect.
func (c *client) seeDelivery(order int, queue, body, tail string, redelivered bool, history string) {
	if redelivered {
		tail += ", redelivered"
	}
	from := ""
	if order == delivered {
		from = queue
	}
	c.seeFrom(from, order, "got", body, " from "+queue+tail+history)
}

// history is a short form of x-death, the most recent death first.
func history(headers amqp.Table) (text string) {
	deaths, _ := headers["x-death"].([]any)
	for _, d := range deaths {
		death := d.(amqp.Table)
		text += fmt.Sprintf(", %s in %s", death["reason"], death["queue"])
		if n := death["count"].(int64); n != 1 {
			text += fmt.Sprintf(" %d times", n)
		}
	}
	if count, ok := headers["x-delivery-count"]; ok {
		text += fmt.Sprintf(", came back %v times", count)
	}
	return text
}

// destination splits EXCHANGE/KEY; a text without a slash is a queue.
func destination(text string) (exchange, key string) {
	if exchange, key, ok := strings.Cut(text, "/"); ok {
		return exchange, key
	}
	return "", text
}
