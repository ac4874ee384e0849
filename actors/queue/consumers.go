package queue

import (
	"slices"

	"candlemark/actors/queue/consumers"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
	"candlemark/protocol"
)

// Open implements deliveries.Owner.
func (s *state) Open(channel mail.Address) *consumers.Holder { return s.channel(channel) }

// channel returns the queue's record of a channel. A new one is added, and its actor watched.
func (s *state) channel(channel mail.Address) *consumers.Holder {
	h, made := s.consumers.Open(channel)
	if made {
		s.out.watch = append(s.out.watch, channel)
	}
	return h
}

// consume attaches a consumer. The lease cannot end before it is detached (LEASE-4).
func (s *state) consume(m *mail.Consume, now clock.Instant) {
	reply := &mail.ConsumeReply{Reply: m.Done(nil), Queue: s.self, Tag: m.Tag}
	if err := access(s.queue, s.vhost, m.Connection); err != nil {
		reply.Err = err
	} else if err := policies.ValidateConsumerArguments(s.queue.Name, s.vhost.Name, policies.KindOf(s.queue.Arguments), m.Arguments); err != nil {
		reply.Err = err
	} else if s.consumers.InUse(m.Exclusive) {
		reply.Err = protocol.ChannelErrorf(protocol.AccessRefused, "queue '%s' in vhost '%s' in exclusive use", s.queue.Name, s.vhost.Name)
	} else if s.Sessions == nil && m.Session != nil {
		reply.Err = mail.ErrNoSessions
	} else if s.Sessions != nil && m.Session == nil {
		reply.Err = needsSession(s)
	}
	if reply.Err != nil || m.Session == nil {
		s.out.Send(m.ReplyTo, reply)
	}
	if reply.Err != nil {
		return
	}
	own := policies.ConsumerSettingsFor(m.Arguments)
	c := &consumers.Consumer{
		Channel: s.channel(m.Channel), Tag: m.Tag, NoAck: m.NoAck, Prefetch: m.Prefetch, Limited: m.Limited && !m.NoAck, Credited: m.Credited,
		WantsFacts: m.Facts, KeepsOnTimeout: m.Stays, Unread: m.Unread,
		Arguments: m.Arguments, Priority: own.Priority, Timeout: own.Timeout,
	}
	if m.NoAck {
		c.Prefetch = 0
	}
	if m.Session != nil {
		s.receivers.Consume(m, c, now)
		return
	}
	s.consumers.Attach(c, m.Exclusive)
	s.Consumed = true
	s.lease.Hold()
}

// cancel handles CancelConsumer.
func (s *state) cancel(m *mail.CancelConsumer, now clock.Instant) {
	reply := func() { s.out.Send(m.ReplyTo, &mail.CancelConsumerReply{Reply: m.Done(nil), Tag: m.Tag}) }
	c := s.consumers.Find(m.Channel, m.Tag)
	if c == nil {
		s.receivers.Cancel(m.Channel, m.Tag, now)
		reply()
		return
	}
	s.detach(c, now)
	switch {
	case m.Requeue:
		s.deliveries.RequeueAllOfConsumer(c, m, now, reply)
	case c.Session:
		s.deliveries.GiveUpNumbered(c, m, now, reply)
	default:
		reply()
	}
}

// detach removes a consumer. Its unacked deliveries stay with the channel.
func (s *state) detach(c *consumers.Consumer, now clock.Instant) {
	s.consumers.Cancel(c)
	s.releaseLease(1, now)
}

// releaseLease releases the lease of n consumers that were detached.
func (s *state) releaseLease(n int, now clock.Instant) {
	s.consumerLeft = s.consumerLeft || n > 0
	s.Consumed = s.consumers.Len() > 0
	for range n {
		s.lease.Release(now.Ceil(), leaseLeft)
	}
}

// channelGone detaches all consumers of a channel and requeues its unacked deliveries at their positions. Ending an
// unacked basic.get counts as a use of the queue (LEASE-4).
func (s *state) channelGone(channel mail.Address, now clock.Instant) {
	s.gets = slices.DeleteFunc(s.gets, func(g *mail.Get) bool { return mail.Same(g.Channel, channel) })
	h := s.consumers.Channel(channel)
	if h == nil {
		return
	}
	s.receivers.Cancel(channel, "", now)
	s.releaseLease(s.consumers.DetachAll(h), now)
	if h.Unacked.Len() > 0 {
		s.lease.Renew(now.Ceil(), leaseReturned)
	}
	s.deliveries.RequeueAllOfHolder(h, now, func() { s.consumers.Close(channel) })
}
