package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
	"candlemark/protocol"
)

// consume attaches a consumer, now or when its source can.
func (s *state) consume(m *mail.Consume, now clock.Instant) {
	reply := &mail.ConsumeReply{Reply: m.Done(nil), Queue: s.self, Tag: m.Tag}
	if err := mail.Locked(s.queue, m.Connection, s.vhost.Name); err != nil {
		reply.Err = err
	} else if err := policies.ValidateConsumerArguments(s.queue.Name, s.vhost.Name, policies.KindOf(s.queue.Arguments), m.Arguments); err != nil {
		reply.Err = err
	} else if s.consumers.InUse(m.Exclusive) {
		reply.Err = protocol.ChannelErrorf(protocol.AccessRefused, "queue '%s' in vhost '%s' in exclusive use", s.queue.Name, s.vhost.Name)
	} else {
		reply.Err = s.source.Admits(m.Session)
	}
	if reply.Err != nil {
		s.out.Send(m.ReplyTo, reply)
		return
	}
	own := policies.ConsumerSettingsFor(m.Arguments)
	c := &consumers.Consumer{
		Channel: s.Open(m.Channel), Tag: m.Tag, NoAck: m.NoAck, Prefetch: m.Prefetch, Limited: m.Limited && !m.NoAck, Credited: m.Credited,
		WantsFacts: m.Facts, KeepsOnTimeout: m.Stays, Unread: m.Unread,
		Arguments: m.Arguments, Priority: own.Priority, Timeout: own.Timeout,
	}
	if m.NoAck {
		c.Prefetch = 0
	}
	s.source.Consume(m, c, now)
}

// cancel handles CancelConsumer.
func (s *state) cancel(m *mail.CancelConsumer, now clock.Instant) {
	reply := func() { s.out.Send(m.ReplyTo, &mail.CancelConsumerReply{Reply: m.Done(nil), Tag: m.Tag}) }
	c := s.consumers.Find(m.Channel, m.Tag)
	if c == nil {
		s.source.Cancel(m, now)
		reply()
		return
	}
	s.Detach(c, now)
	switch {
	case m.Requeue:
		s.deliveries.RequeueAllOfConsumer(c, m, now, reply)
	case c.Session:
		s.deliveries.GiveUpNumbered(c, m, now, reply)
	default:
		reply()
	}
}

// channelGone detaches all consumers of a channel and requeues its unacked deliveries at their positions. Ending an
// unacked basic.get counts as a use of the queue (LEASE-4).
func (s *state) channelGone(channel mail.Address, now clock.Instant) {
	s.each(func(p part) { p.Gone(channel, now) })
	h := s.consumers.Channel(channel)
	if h == nil {
		return
	}
	s.detached(s.consumers.DetachAll(h), now)
	if h.Unacked.Len() > 0 {
		s.lease.Renew(now.Ceil(), expiry.LeaseReturned)
	}
	s.deliveries.RequeueAllOfHolder(h, now, func() { s.consumers.Close(channel) })
}
