package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

const (
	acked    = store.Acked
	expired  = store.Expired
	rejected = store.Rejected
)

// settle takes what a channel did with its deliveries. Credit that comes free
// is used at once.
func (s *state) settle(m *mail.Settle, now clock.Instant) {
	h := s.consumers.Channel(m.Channel)
	if h == nil {
		return
	}
	rest := s.settleSome(h, m.Ranges, now)
	if len(rest) == 0 {
		return
	}
	s.pending.Later(&work.Work{ // what was too much for one turn
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
			s.releaseDelivery(u)
			switch how {
			case mail.Ack:
				s.Counts.Ack++
				s.Remove(u.Message, acked)
			case mail.Requeue:
				s.Requeue(u.Message, now)
			case mail.Reject:
				s.End(u.Message, rejected)
			case mail.PutBack:
				s.PutBack(u.Message, now)
			}
		})
		taken, last := before-h.Unacked.Len(), r.Last
		if next != 0 {
			last = next - 1
		}
		s.Counts.Late += last - r.First + 1 - uint64(taken) // what is not held any more
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
