package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// dispatch delivers ready messages to consumers in turn until there are no more of either. It never delivers a message
// past its deadline, even if the timer is late (TTL-17). It reports whether it stopped at the limit of a turn.
func (s *state) dispatch(now clock.Instant) (more bool) {
	if s.Settings.HasForward {
		more = s.ForwardReady(now)
	}
	for died, n := 0, 0; s.Backlog.Ready() > 0; n++ {
		c := s.consumers.Next()
		if c == nil {
			break
		}
		if n == int(s.turnLimit) {
			more = true
			break
		}
		h, ok := next(s, c, now)
		if !ok {
			continue
		}
		if s.Expiry.Retime(h) <= now.Floor() {
			if died++; died > messages.TurnLimit {
				more = true
				break
			}
			s.Expiry.Remove(h)
			s.Expire(h, now)
			continue
		}
		if !s.consumers.Admits(c, mail.ChargeOf(int(s.Backlog.Size(h)))) {
			continue
		}
		if s.Sessions != nil && s.Backlog.IsPaged(h) {
			s.receivers.Read(c, now)
			continue
		}
		if !s.HasContent(h, now) {
			break
		}
		s.Expiry.Remove(h)
		s.deliver(c, h, now)
	}
	s.consumers.Offer(s.Backlog.Ready())
	s.consumers.AnswerCredit(s.Backlog.Ready())
	return more
}

// deliver delivers a ready message to c and advances to the next consumer.
func (s *state) deliver(c *consumers.Consumer, h backlog.Handle, now clock.Instant) {
	var r backlog.Record
	s.Backlog.Get(h, &r)
	if r.Redelivered {
		s.Counts.Redeliver++
	} else {
		s.Ages.Waited(now.Ceil() - r.Enqueued)
	}
	s.Pager.Took(len(r.Body))
	var number uint64
	var facts *mail.Facts
	if c.WantsFacts {
		facts = s.Style().Facts(&r)
	}
	if c.NoAck {
		s.Remove(h, store.Acked)
	} else {
		number = s.deliveries.Take(h, c.Channel, c, now)
		if c.WantsFacts {
			s.deliveries.Lock(facts, c.Channel, number)
		}
	}
	_, d := s.consumers.Deliver(c, len(r.Body), mail.ChargeOf(len(r.Exchange)+len(r.RoutingKey)+len(r.Header)+len(r.Body)))
	d.Number, d.Facts = number, facts
	s.Style().Deliver(d, &r)
}

// deliverDirect delivers a new message to a consumer without acknowledgements; the message never enters the backlog.
func (s *state) deliverDirect(c *consumers.Consumer, m *message.Message, chunk *message.Chunk, deadline int64, now clock.Instant) {
	all, d := s.consumers.Deliver(c, len(m.Body), mail.ChargeOf(m.Size()))
	d.Message = *m
	s.Ages.Waited(0)
	if s.Settings.StampExpiry {
		d.Message.Overlay = s.Style().Stamp(m.Overlay, now.Ceil(), deadline)
	}
	if c.WantsFacts {
		s.Seq++
		d.Facts = s.Style().Facts(&backlog.Record{Seq: s.Seq, Enqueued: now.Ceil(), Deadline: deadline})
	}
	if all.Chunk == nil && !m.Owned {
		chunk.Retain()
		all.Chunk = chunk
	}
}
