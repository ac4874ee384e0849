package connevents

import (
	"strconv"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Consumers publishes the events of consumers, and of messages that a client removes, on one channel or session.
type Consumers struct {
	Events  *events.Hub    // nil for none
	By      *events.Origin // the client
	VHost   string
	Channel string // name of the channel or session
}

// OfChannel returns the publisher of a channel or session with a number, on a connection with a name.
func OfChannel(h *events.Hub, by *events.Origin, vhost, connection string, id uint16) Consumers {
	return Consumers{h, by, vhost, connection + " (" + strconv.Itoa(int(id)) + ")"}
}

// Cancelled publishes scheduled.cancelled, if messages is positive.
func (t *Consumers) Cancelled(q *topology.Queue, messages int) {
	if messages > 0 {
		t.messages("scheduled.cancelled", false, q, messages, protocol.Field{Key: "exchange", Value: q.Holds()}, protocol.Field{Key: "message_id", Value: ""})
	}
}

// Purged publishes queue.purged.
func (t *Consumers) Purged(q *topology.Queue, messages int) {
	t.messages("queue.purged", q.Durable, q, messages)
}

func (t *Consumers) messages(name string, durable bool, q *topology.Queue, messages int, more ...protocol.Field) {
	t.Events.Publish(t.By.Declared(durable), func() *events.Event {
		return &events.Event{Name: name, VHost: t.VHost, By: t.By, Fields: append(protocol.Table{
			{Key: "name", Value: topology.HeldFor(q.Name)}, {Key: "vhost", Value: t.VHost}, {Key: "messages", Value: int64(messages)},
		}, more...)}
	})
}

// Created publishes consumer.created.
func (t *Consumers) Created(m *mail.Consume) {
	t.consumer("consumer.created", m.Tag, m.Queue,
		protocol.Field{Key: "exclusive", Value: m.Exclusive},
		protocol.Field{Key: "ack_required", Value: !m.NoAck},
		protocol.Field{Key: "prefetch_count", Value: int64(m.Prefetch)},
		protocol.Field{Key: "arguments", Value: m.Arguments},
	)
}

// Gone publishes consumer.deleted.
func (t *Consumers) Gone(tag, queue string) { t.consumer("consumer.deleted", tag, queue) }

func (t *Consumers) consumer(name, tag, queue string, more ...protocol.Field) {
	t.Events.Publish(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, VHost: t.VHost, By: t.By, Fields: append(protocol.Table{
			{Key: "consumer_tag", Value: tag}, {Key: "queue", Value: queue}, {Key: "vhost", Value: t.VHost}, {Key: "channel", Value: t.Channel},
		}, more...)}
	})
}
