package channel

import (
	"strconv"

	"candlemark/actors/client/channel/output"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// eventPublisher publishes events of a channel.
type eventPublisher struct{ cfg *Config }

// purged publishes queue.purged.
func (t *eventPublisher) purged(q *topology.Queue, messages int) {
	t.cfg.Events.Publish(t.cfg.By.Declared(q.Durable), func() *events.Event {
		return &events.Event{Name: "queue.purged", VHost: t.cfg.VHost.Name, By: t.cfg.By, Fields: protocol.Table{
			{Key: "name", Value: q.Name}, {Key: "vhost", Value: t.cfg.VHost.Name}, {Key: "messages", Value: int64(messages)},
		}}
	})
}

// consumer publishes consumer.created.
func (t *eventPublisher) consumer(m *mail.Consume) {
	t.cfg.Events.Publish(events.Unrecorded, func() *events.Event {
		return t.consumerEvent("consumer.created", m.Tag, m.Queue, protocol.Table{
			{Key: "exclusive", Value: m.Exclusive},
			{Key: "ack_required", Value: !m.NoAck},
			{Key: "prefetch_count", Value: int64(m.Prefetch)},
			{Key: "arguments", Value: m.Arguments},
		})
	})
}

// consumerGone publishes consumer.deleted.
func (t *eventPublisher) consumerGone(tag string, c *output.Consumer) {
	t.cfg.Events.Publish(events.Unrecorded, func() *events.Event { return t.consumerEvent("consumer.deleted", tag, c.Name, nil) })
}

func (t *eventPublisher) consumerEvent(name, tag, queue string, more protocol.Table) *events.Event {
	return &events.Event{Name: name, VHost: t.cfg.VHost.Name, By: t.cfg.By, Fields: append(protocol.Table{
		{Key: "consumer_tag", Value: tag},
		{Key: "queue", Value: queue},
		{Key: "vhost", Value: t.cfg.VHost.Name},
		{Key: "channel", Value: t.cfg.ConnectionName + " (" + strconv.Itoa(int(t.cfg.ID)) + ")"},
	}, more...)}
}
