package session

import (
	"strconv"

	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// tellCancelled tells that scheduled messages of a queue are cancelled, if some are.
func tellCancelled(s *state, q *topology.Queue, messages int) {
	if messages == 0 {
		return
	}
	tellMessages(s, "scheduled.cancelled", false, q, messages, protocol.Field{Key: "exchange", Value: false}, protocol.Field{Key: "message_id", Value: ""})
}

// tellPurged tells that a queue has lost its messages.
func tellPurged(s *state, q *topology.Queue, messages int) {
	tellMessages(s, "queue.purged", q.Durable, q, messages)
}

func tellMessages(s *state, name string, durable bool, q *topology.Queue, messages int, more ...protocol.Field) {
	s.cfg.Events.Tell(s.cfg.By.Declared(durable), func() *events.Event {
		return &events.Event{Name: name, VHost: s.cfg.VHost.Name, By: s.cfg.By, Fields: append(protocol.Table{
			{Key: "name", Value: q.Name}, {Key: "vhost", Value: s.cfg.VHost.Name}, {Key: "messages", Value: int64(messages)},
		}, more...)}
	})
}

// tellConsumer tells that a consumer has come.
func tellConsumer(s *state, m *mail.Consume) {
	tell(s, "consumer.created", m.Tag, m.Queue, func() protocol.Table {
		return protocol.Table{
			{Key: "exclusive", Value: false},
			{Key: "ack_required", Value: !m.NoAck},
			{Key: "prefetch_count", Value: int64(0)},
			{Key: "arguments", Value: m.Arguments},
		}
	})
}

// tellConsumerGone tells that one has gone.
func tellConsumerGone(s *state, c *consumer) {
	tell(s, "consumer.deleted", c.tag, c.name, func() protocol.Table { return nil })
}

func tell(s *state, name, tag, queue string, more func() protocol.Table) {
	s.cfg.Events.Tell(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, VHost: s.cfg.VHost.Name, By: s.cfg.By, Fields: append(protocol.Table{
			{Key: "consumer_tag", Value: tag},
			{Key: "queue", Value: queue},
			{Key: "vhost", Value: s.cfg.VHost.Name},
			{Key: "channel", Value: s.cfg.ConnectionName + " (" + strconv.Itoa(int(s.cfg.Channel)) + ")"},
		}, more()...)}
	})
}

// describe answers the administrator's question. It changes nothing.
func describe(s *state, m *mail.DescribeChannel) {
	info := &mail.ChannelInfo{
		Reply: m.Done(nil), Number: s.cfg.Channel, User: s.cfg.User.Name, VHost: s.cfg.VHost.Name,
		Running: s.phase == open, Confirm: true, Unacked: max(s.unacked.Len()-s.unacked.Late(), 0) + s.locked.Len(), Unconfirmed: s.publishes.Len(),
		Counts: s.counted(), Published: s.published, LastUse: s.used.Floor() + s.cfg.Clock.Skew(), Session: sessionInfo(s),
	}
	for _, l := range s.links {
		if l.consumer != nil {
			info.Consumers++
		}
	}
	s.Send(m.ReplyTo, info)
}

// counted are the session's counts so far.
func (s *state) counted() mail.Counts {
	c := s.counts
	c.Ack += s.unacked.Acked()
	return c
}
