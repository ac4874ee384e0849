package channel

import (
	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/requests"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// deliver writes messages for a consumer. Later output does not overtake them.
func (s *state) deliver(m *mail.Deliver) {
	s.in.Use()
	c := s.consumers[m.Tag]
	if s.in.Leaving || c == nil {
		m.Release() // the queue is informed separately that the channel is gone
		return
	}
	s.output.Deliver(c, m)
}

func (s *state) consume(m *protocol.BasicConsume) error {
	name, err := s.client.Named(m.Queue)
	if err != nil {
		return err
	}
	tag := m.ConsumerTag
	if _, used := s.consumers[tag]; used || name != topology.ReplyName && s.replies.Is(tag) {
		return protocol.ConnectionErrorf(protocol.NotAllowed, "attempt to reuse consumer tag '%s'", tag)
	}
	n := len(s.consumers)
	if s.replies.Name() != "" {
		n++
	}
	if s.cfg.MaxConsumers > 0 && n >= s.cfg.MaxConsumers {
		return protocol.ConnectionErrorf(protocol.NotAllowed, "reached maximum (%d) of consumers per channel", s.cfg.MaxConsumers)
	}
	size := budget.PriceConsumer + int64(len(tag)) + m.Arguments.Memory()
	if err := s.cfg.Objects.Room(size + budget.PricePeer); err != nil {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot add a consumer: %v", err)
	}
	if name == topology.ReplyName {
		tag, err := s.replies.Begin(m, s.mail.Self())
		if err == nil && !m.NoWait {
			s.output.Reply(&protocol.BasicConsumeOk{ConsumerTag: tag})
		}
		return err
	}
	q, err := s.rights.Readable(name)
	if err != nil {
		return err
	}
	if tag == "" {
		tag = requests.Generated("amq.ctag-")
	}
	c := &output.Consumer{Queue: &s.queues.Peers.Of(q.PID).Queue, Name: q.Name, Memory: size}
	ask := &mail.Consume{
		Channel: s.mail.Self(), Tag: tag, NoAck: m.NoAck, Exclusive: m.Exclusive, Prefetch: s.prefetch,
		Arguments: m.Arguments, Limited: s.queues.Unacked.Limit.Messages() > 0, Connection: s.cfg.Connection, Unread: s.unread,
		Queue: q.Name, VHost: s.cfg.VHost.Name,
	}
	ask.Request = s.request(m, func(any) {
		s.consumers[tag] = c
		s.cfg.Objects.Hold(size)
		s.queues.Unacked.Limit.Attach(&c.Queue.Queue)
		s.events.Created(ask)
		if !m.NoWait {
			s.output.Reply(&protocol.BasicConsumeOk{ConsumerTag: tag})
		}
	})
	s.waiting.charge(s.cfg.Objects, size)
	s.mail.Send(q.PID, ask)
	return nil
}

// cancel ends a consumer. It is not an error if the consumer does not exist (LEASE-9). The queue answers after its last
// delivery, and so does the channel.
func (s *state) cancel(m *protocol.BasicCancel) error {
	ok := func() {
		if !m.NoWait {
			s.output.Reply(&protocol.BasicCancelOk{ConsumerTag: m.ConsumerTag})
		}
	}
	if s.replies.Is(m.ConsumerTag) {
		s.replies.End()
	}
	c := s.consumers[m.ConsumerTag]
	if c == nil {
		ok()
		return nil
	}
	s.mail.Send(c.Queue.Address, &mail.CancelConsumer{
		Request: s.request(m, func(any) {
			s.forget(m.ConsumerTag, c)
			ok()
		}),
		Channel: s.mail.Self(), Tag: m.ConsumerTag,
	})
	return nil
}

// forget frees the tag; held deliveries are still written.
func (s *state) forget(tag string, c *output.Consumer) {
	if s.consumers[tag] == c {
		delete(s.consumers, tag)
		s.cfg.Objects.Hold(-c.Memory)
		s.events.Gone(tag, c.Name)
		s.queues.Unacked.Limit.Detach(&c.Queue.Queue)
	}
}

// consumerCancelled handles the end of a consumer by its queue. If the client supports it, basic.cancel is sent after
// the last delivery (LEASE-9).
func (s *state) consumerCancelled(m *mail.ConsumerCancelled) {
	c := s.consumers[m.Tag]
	if c == nil || !mail.Same(c.Queue.Address, m.Queue) {
		return
	}
	s.forget(m.Tag, c)
	s.queues.Unacked.Limit.Allow()
	if s.cfg.CancelNotify {
		s.notice(&protocol.BasicCancel{ConsumerTag: m.Tag, NoWait: true})
	}
}

// notice sends basic.cancel. If this channel is deleting the queue it is sent after delete-ok, because a client that
// itself consumes from the queue may mistake the notice for the end of its request, as amqplib's tests do.
func (s *state) notice(m *protocol.BasicCancel) {
	if w := &s.waiting; s.in.Waits() && w.done != nil {
		if _, deletes := w.method.(*protocol.QueueDelete); deletes {
			done := w.done
			w.done = func(reply any) {
				done(reply)
				s.notice(m)
			}
			return
		}
	}
	s.output.Notice(m)
}
