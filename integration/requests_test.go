package integration

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestExpiredRequests_ANS2: amqp091-go gets the answer to an expired request over direct reply-to and in a queue of its own.
func TestExpiredRequests_ANS2(t *testing.T) {
	c := start(t).dial()
	_, err := c.QueueDeclare("rpc", true, false, false, false, amqp.Table{"x-expired-requests": "answer", "x-message-ttl": 50})
	c.must(err)
	own, err := c.QueueDeclare("", false, true, true, false, nil)
	c.must(err)
	for _, name := range []string{"amq.rabbitmq.reply-to", own.Name} {
		replies := c.consume(name, true)
		c.must(c.Channel.PublishWithContext(c.Context(), "", "rpc", false, false, amqp.Publishing{
			DeliveryMode: 2, CorrelationId: "call to " + name, ReplyTo: name, Body: []byte("price?"),
		}))
		if m := c.next(replies); m.CorrelationId != "call to "+name || m.Type != "candlemark.error" || string(m.Body) != `{"error":"expired","reason":"the request expired","queue":"rpc"}` {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
