package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology"
)

// dispatch gives ready messages to consumers in turn, until one of them runs
// out. A message past its deadline is never handed over, even if its timer is
// late (TTL-17).
func (s *state) dispatch(now clock.Instant) (more bool) {
	if s.settings.HasForward {
		more = s.forwardReady(now)
	}
	for died, n := 0, 0; s.messages.Ready() > 0; n++ {
		c := s.roundRobin.next()
		if c == nil {
			break
		}
		if n == int(s.turnMost) {
			more = true
			break
		}
		h, _ := s.messages.First()
		if s.messages.Deadline(h) <= now.Floor() {
			if died++; died > turnLimit {
				more = true
				break
			}
			s.wheel.Remove(h)
			s.endReady(h, expired)
			continue
		}
		if !s.hasContent(h, now) {
			break
		}
		s.wheel.Remove(h)
		s.deliver(c, h, now)
	}
	s.offer()
	return more
}

// deliver gives a ready message to c and passes the turn on.
func (s *state) deliver(c *consumer, h backlog.Handle, now clock.Instant) {
	r := s.messages.Get(h)
	d := s.delivery(&r)
	if d.Redelivered {
		s.counts.Redeliver++
	}
	s.paging.runway -= int64(len(r.Body)) + messageOverhead
	if c.noAck {
		s.remove(h, acked)
	} else {
		s.take(h)
		c.unacked++
		d.Number = c.channel.unacked.Append(unackedDelivery{h, s.second(), c})
		s.startAckTimeout(h, c.channel, d.Number, c.timeout, now)
	}
	s.addDelivery(c, d)
}

// take makes a ready message one that somebody holds.
func (s *state) take(h backlog.Handle) {
	s.messages.Take(h)
	s.unacked++
	if e := s.messages.Entry(h); e.Marks&backlog.Stored != 0 && !e.Redelivered {
		s.mark(store.Delivered, e.Seq, 0)
	}
}

// deliverDirect gives a message that just arrived to a consumer without
// acknowledgements: it never enters the backlog.
func (s *state) deliverDirect(c *consumer, m *message.Message, chunk *message.Chunk, deadline int64, now clock.Instant) {
	s.addDelivery(c, mail.Delivery{Message: *m})
	d := c.deliver
	if s.settings.StampExpiry {
		d.Items[len(d.Items)-1].Message.Overlay = s.stamp(m.Overlay, now.Ceil(), deadline)
	}
	if d.Chunk == nil && !m.Owned {
		chunk.Retain()
		d.Chunk = chunk
	}
}

func (s *state) addDelivery(c *consumer, d mail.Delivery) {
	if c.deliver == nil {
		c.deliver = mail.NewDeliver(s.self, c.tag, c.noAck)
		s.touched = append(s.touched, c)
	}
	c.deliver.Items = append(c.deliver.Items, d)
	c.messages++
	c.bytes += len(d.Message.Body)
	c.ring.advance(c)
	s.refresh(c)
	if c.limited {
		s.useCredit(c)
	}
}

// useCredit takes one message for c from what its channel allowed. The other
// consumers of the channel come before it when there is more.
func (s *state) useCredit(c *consumer) {
	h := c.channel
	h.allowed--
	i := slices.Index(h.consumers, c)
	copy(h.consumers[i:], h.consumers[i+1:])
	h.consumers[len(h.consumers)-1] = c
	if h.allowed == 0 {
		s.refreshLimited(h)
	}
}

// refreshLimited has those consumers of a channel that share its limit take part
// or not, as it allows.
func (s *state) refreshLimited(h *consumerChannel) {
	for _, c := range h.consumers {
		if c.limited {
			s.refresh(c)
		}
	}
}

// flush sends each consumer what it was given in this turn, in one mail.
func (s *state) flush() {
	for i, c := range s.touched {
		if n := uint64(len(c.deliver.Items)); c.noAck {
			s.counts.DeliverNoAck += n
		} else {
			s.counts.Deliver += n
		}
		s.send(c.channel.address, c.deliver)
		c.deliver = nil
		s.touched[i] = nil
	}
	s.touched = s.touched[:0]
}

// delivery tells, on a quorum queue, how often the message came back (DL-9), and
// its times if the queue is to.
func (s *state) delivery(r *backlog.Record) mail.Delivery {
	d := mail.Delivery{Redelivered: r.Redelivered, Message: content(r)}
	if s.quorum && r.DeliveryCount > 0 {
		d.Message.Overlay = d.Message.Overlay.Counted(r.DeliveryCount)
	}
	if s.settings.StampExpiry {
		d.Message.Overlay = s.stamp(d.Message.Overlay, r.Enqueued, r.Deadline)
	}
	return d
}

// content is a stored message as other actors see it: its bytes are in the
// backlog's slab, which is never written again.
func content(r *backlog.Record) message.Message {
	m := message.Message{
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body, Overlay: r.Overlay,
		TTL: r.TTL, Priority: r.Priority, Persistent: r.Persistent, Owned: true, Share: r.Share,
	}
	if r.Released {
		m.Overlay = r.Overlay.Released(topology.DelayOf(r.Header))
	}
	return m
}

// grant gives a consumer's window back.
func (s *state) grant(m *mail.Grant) {
	c := s.find(m.Channel, m.Tag)
	if c == nil {
		return
	}
	c.messages -= m.Messages
	c.bytes -= m.Bytes
	s.refresh(c)
}
