package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

const (
	acked         = store.Acked
	expired       = store.Expired
	rejected      = store.Rejected
	maxlen        = store.Overflowed
	deliveryLimit = store.Exceeded
	// Reasons of queues that move their messages on.
	forwarded   = store.Forwarded
	tooManyHops = store.Exhausted
)

// settle takes what a channel did with its deliveries. Credit that comes free
// is used at once.
func (s *state) settle(m *mail.Settle, now clock.Instant) {
	h := s.consumers.Channel(m.Channel)
	if h == nil {
		return
	}
	if rest := s.settleSome(h, m.Ranges, now); len(rest) > 0 {
		s.settleOn(h, rest)
	}
}

// settleOn goes on with what was too much for one turn.
func (s *state) settleOn(h *consumers.Channel, rest []mail.SettleRange) {
	s.pending.Later(&work.Work{
		Expires: true,
		Step: func(now clock.Instant) bool {
			rest = s.settleSome(h, rest, now)
			return len(rest) == 0
		},
	})
}

// settleSome settles a turn's worth of deliveries and returns the ranges that are
// left.
func (s *state) settleSome(h *consumers.Channel, ranges []mail.SettleRange, now clock.Instant) []mail.SettleRange {
	left := int(s.turnMost)
	for i := range ranges {
		if left <= 0 {
			return ranges[i:]
		}
		r := &ranges[i]
		how, before := r.How, h.Unacked.Len()
		next := h.Unacked.TakeSome(r.First, r.Last, left, func(_ uint64, u consumers.Delivery) {
			switch how {
			case mail.Ack:
				s.counts.Ack++
				s.releaseDelivery(u)
				s.Remove(u.Message, acked)
			case mail.Requeue:
				s.requeue(u, now)
			case mail.Reject:
				s.releaseDelivery(u)
				s.End(u.Message, rejected)
			}
		})
		taken, last := before-h.Unacked.Len(), r.Last
		if next != 0 {
			last = next - 1
		}
		s.counts.Late += last - r.First + 1 - uint64(taken) // what is not held any more
		left -= 1 + taken
		if next != 0 {
			r.First = next
			return ranges[i:]
		}
	}
	return nil
}

// releaseDelivery frees the credit of a delivery.
func (s *state) releaseDelivery(u consumers.Delivery) {
	s.ackTimeouts.Stop(u.Message)
	s.consumers.Release(u)
}

// requeue returns an unacknowledged message to its original position with its
// original deadline; past that it expires at once (TTL-16, TTL-22).
func (s *state) requeue(u consumers.Delivery, now clock.Instant) {
	s.releaseDelivery(u)
	h := u.Message
	e := s.messages.Entry(h)
	e.Redelivered = true
	e.DeliveryCount++
	s.journal.Note(store.Returned, e)
	limit := s.settings.DeliveryLimit
	switch {
	case e.Deadline <= now.Floor():
		s.End(h, expired)
	case limit >= 0 && int64(e.DeliveryCount) > limit: // DL-9, quorum queues
		s.End(h, deliveryLimit)
	default:
		s.Return(h)
	}
}
