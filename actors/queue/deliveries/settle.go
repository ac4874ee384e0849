package deliveries

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// Settle takes what a channel did with its deliveries. Credit that comes free
// is used at once.
func (d *Deliveries) Settle(m *mail.Settle, now clock.Instant) {
	h := d.Consumers.Channel(m.Channel)
	if h == nil {
		return
	}
	rest := d.settleSome(h, m.Ranges, now)
	if len(rest) == 0 {
		return
	}
	d.Pending.Later(&work.Work{ // what was too much for one turn
		Expires: true,
		Step: func(now clock.Instant) bool {
			rest = d.settleSome(h, rest, now)
			return len(rest) == 0
		},
	})
}

// settleSome settles a turn's worth of deliveries and returns the ranges that are
// left.
func (d *Deliveries) settleSome(h *consumers.Channel, ranges []mail.SettleRange, now clock.Instant) []mail.SettleRange {
	left, set := int(*d.Most), d.Messages
	for i := range ranges {
		if left <= 0 {
			return ranges[i:]
		}
		r := &ranges[i]
		how, before := r.How, h.Unacked.Len()
		next := h.Unacked.TakeSome(r.First, r.Last, left, func(_ uint64, u consumers.Delivery) {
			d.release(u)
			switch how {
			case mail.Ack:
				set.Counts.Ack++
				set.Remove(u.Message, store.Acked)
			case mail.Requeue:
				set.Requeue(u.Message, now)
			case mail.Reject:
				set.End(u.Message, store.Rejected)
			case mail.PutBack:
				set.PutBack(u.Message, now)
			}
		})
		taken, last := before-h.Unacked.Len(), r.Last
		if next != 0 {
			last = next - 1
		}
		set.Counts.Late += last - r.First + 1 - uint64(taken) // what is not held any more
		left -= 1 + taken
		if next != 0 {
			r.First = next
			return ranges[i:]
		}
	}
	return nil
}

// GiveUp returns all that a channel that is gone held to its position, a turn's worth at a time, and calls end behind it.
func (d *Deliveries) GiveUp(h *consumers.Channel, now clock.Instant, end func()) {
	next := uint64(1)
	d.Pending.Start(&work.Work{
		Expires: true,
		Step: func(now clock.Instant) bool {
			next = h.Unacked.TakeSome(next, h.Unacked.Last(), int(*d.Most), func(_ uint64, u consumers.Delivery) {
				d.release(u)
				d.Messages.Requeue(u.Message, now)
			})
			return next == 0
		},
		End: func(clock.Instant) { end() },
	}, now)
}
