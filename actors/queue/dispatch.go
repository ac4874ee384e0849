package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// dispatch gives ready messages to consumers in turn, until one of them runs
// out. A message past its deadline is never handed over, even if its timer is
// late (TTL-17).
func (s *state) dispatch(now clock.Instant) (more bool) {
	if s.settings.HasForward {
		more = s.forwardReady(now)
	}
	for died, n := 0, 0; s.messages.Ready() > 0; n++ {
		c := s.consumers.Next()
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
			s.expiry.Remove(h)
			s.endReady(h, expired)
			continue
		}
		if !s.hasContent(h, now) {
			break
		}
		s.expiry.Remove(h)
		s.deliver(c, h, now)
	}
	s.consumers.Offer(s.messages.Ready())
	return more
}

// deliver gives a ready message to c and passes the turn on.
func (s *state) deliver(c *consumers.Consumer, h backlog.Handle, now clock.Instant) {
	r := s.messages.Get(h)
	d := s.style().Delivery(&r)
	if d.Redelivered {
		s.counts.Redeliver++
	}
	s.pager.Took(len(r.Body))
	if c.NoAck {
		s.Remove(h, acked)
	} else {
		d.Number = s.take(h, c.Channel, c)
		s.startAckTimeout(h, c.Channel, d.Number, c.Timeout, now)
	}
	s.consumers.Deliver(c, d)
}

// take makes a ready message one that a channel has to acknowledge, for the consumer if it goes to one, and returns
// the delivery's number. It is since a second of the broker's time: 32 bits will do until 2106, and do not make a delivery longer.
func (s *state) take(h backlog.Handle, by *consumers.Channel, consumer *consumers.Consumer) (number uint64) {
	s.messages.Take(h)
	if e := s.messages.Entry(h); !e.Redelivered {
		s.journal.Note(store.Delivered, e)
	}
	return s.consumers.Hold(by, consumers.Delivery{Message: h, Since: uint32(s.journal.At / 1000), Consumer: consumer})
}

// deliverDirect gives a message that just arrived to a consumer without
// acknowledgements: it never enters the backlog.
func (s *state) deliverDirect(c *consumers.Consumer, m *message.Message, chunk *message.Chunk, deadline int64, now clock.Instant) {
	d := s.consumers.Deliver(c, mail.Delivery{Message: *m})
	if s.settings.StampExpiry {
		d.Items[len(d.Items)-1].Message.Overlay = s.style().Stamp(m.Overlay, now.Ceil(), deadline)
	}
	if d.Chunk == nil && !m.Owned {
		chunk.Retain()
		d.Chunk = chunk
	}
}

// style says how the queue shows its messages to consumers.
func (s *state) style() content.Style {
	return content.Style{Counts: s.quorum, Stamps: s.settings.StampExpiry, Skew: s.skew}
}
