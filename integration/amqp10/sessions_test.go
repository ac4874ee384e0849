package amqp10

import (
	"context"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// sessionFilter is the filter by which clients of Azure Service Bus name a session.
const sessionFilter = "com.microsoft:session-filter"

// sessions declares the queue s, with sessions whose locks last a minute.
func sessions(b *testkit.Bubble) {
	b.Helper()
	_, err := b.Connect().Open().QueueDeclare("s", true, false, false, false, amqp091.Table{
		"x-queue-type": "quorum", "x-sessions": true, "x-consumer-timeout": int32(60000),
	})
	if err != nil {
		b.Fatal(err)
	}
}

// nextSession returns the options of a receiver that locks the next session, and waits for one as long as wait.
func nextSession(wait time.Duration) *amqp.ReceiverOptions {
	o := ofSession(nil)
	o.Properties = map[string]any{"com.microsoft:timeout": uint32(wait / time.Millisecond)}
	return o
}

// ofSession returns the options of a receiver that locks a session, the next one if id is nil.
func ofSession(id any) *amqp.ReceiverOptions {
	o := second(-1)
	o.Filters = []amqp.LinkFilter{amqp.NewLinkFilter(sessionFilter, 0x00000137000000C, id)}
	return o
}

// sendsTo sends messages of a session.
func (c *client) sendsTo(queue, session string, bodies ...string) {
	c.Helper()
	s := c.sender(queue, nil)
	for _, body := range bodies {
		c.send(s, &amqp.Message{Properties: &amqp.MessageProperties{GroupID: &session}, Data: [][]byte{[]byte(body)}})
	}
	if err := s.Close(context.Background()); err != nil {
		c.Fatal(err)
	}
}
