package session10

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// This part publishes the events of a session of AMQP 1.0.
//
// Owns: nothing. Deadlines: none.

// eventPublisher publishes the events of a session.
type eventPublisher struct {
	Events  *events.Hub    // nil for none
	By      *events.Origin // the client
	VHost   string
	Channel string // the session's name
}

// Cancelled publishes scheduled.cancelled, if messages is positive.
func (t *eventPublisher) Cancelled(q *topology.Queue, messages int) {
	if messages > 0 {
		t.messages("scheduled.cancelled", false, q, messages, protocol.Field{Key: "exchange", Value: q.Holds()}, protocol.Field{Key: "message_id", Value: ""})
	}
}

// Purged publishes queue.purged.
func (t *eventPublisher) Purged(q *topology.Queue, messages int) {
	t.messages("queue.purged", q.Durable, q, messages)
}

func (t *eventPublisher) messages(name string, durable bool, q *topology.Queue, messages int, more ...protocol.Field) {
	t.Events.Publish(t.By.Declared(durable), func() *events.Event {
		return &events.Event{Name: name, VHost: t.VHost, By: t.By, Fields: append(protocol.Table{
			{Key: "name", Value: topology.HeldFor(q.Name)}, {Key: "vhost", Value: t.VHost}, {Key: "messages", Value: int64(messages)},
		}, more...)}
	})
}

// Consumer publishes consumer.created.
func (t *eventPublisher) Consumer(m *mail.Consume) {
	t.consumer("consumer.created", m.Tag, m.Queue,
		protocol.Field{Key: "exclusive", Value: false},
		protocol.Field{Key: "ack_required", Value: !m.NoAck},
		protocol.Field{Key: "prefetch_count", Value: int64(0)},
		protocol.Field{Key: "arguments", Value: m.Arguments},
	)
}

// ConsumerGone publishes consumer.deleted.
func (t *eventPublisher) ConsumerGone(tag, queue string) { t.consumer("consumer.deleted", tag, queue) }

func (t *eventPublisher) consumer(name, tag, queue string, more ...protocol.Field) {
	t.Events.Publish(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, VHost: t.VHost, By: t.By, Fields: append(protocol.Table{
			{Key: "consumer_tag", Value: tag}, {Key: "queue", Value: queue}, {Key: "vhost", Value: t.VHost}, {Key: "channel", Value: t.Channel},
		}, more...)}
	})
}
