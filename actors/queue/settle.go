package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

const (
	acked    = store.Acked
	expired  = store.Expired
	rejected = store.Rejected
	maxlen   = store.Overflowed
	worn     = store.Exceeded
	// Reasons of queues that move their messages on.
	forwarded = store.Forwarded
	exhausted = store.Exhausted
)

// settle takes what a channel did with its deliveries. Credit that comes free
// is used at once.
func (s *state) settle(m *mail.Settle, now clock.Instant) {
	h := s.holders[m.Channel.Id]
	if h == nil {
		return
	}
	for _, r := range m.Ranges {
		how := r.How
		s.counts.Late += r.Last - r.First + 1 // what is not held any more
		h.unacked.TakeRange(r.First, r.Last, func(_ uint64, u held) {
			s.counts.Late--
			switch how {
			case mail.Ack:
				s.counts.Ack++
				s.release(u)
				s.remove(u.message, acked)
			case mail.Requeue:
				s.giveBack(u, now)
			case mail.Reject:
				s.release(u)
				s.bringOut(u.message, rejected)
			}
		})
	}
	s.enforce(now)
	s.bury(now)
	s.dispatch(now)
}

// release frees the credit of a delivery.
func (s *state) release(u held) {
	s.unacked--
	s.repay(u.message)
	if c := u.consumer; c != nil {
		c.unacked--
		s.refresh(c)
		if c == s.sole {
			s.elect()
		}
	}
}

// giveBack returns an unacknowledged message to its original position with its
// original deadline; past that it expires at once (TTL-16, TTL-22).
func (s *state) giveBack(u held, now clock.Instant) {
	s.release(u)
	h := u.message
	e := s.messages.Entry(h)
	e.Redelivered = true
	e.DeliveryCount++
	if e.Marks&backlog.Stored != 0 {
		s.mark(store.Returned, e.Seq, 0)
	}
	limit := s.settings.DeliveryLimit
	switch {
	case e.Deadline <= now.Floor():
		s.bringOut(h, expired)
	case limit >= 0 && int64(e.DeliveryCount) > limit: // DL-9, quorum queues
		s.bringOut(h, worn)
	default:
		s.messages.Return(h)
		s.schedule(h)
	}
}

// purge drops every ready message (DL-9: not dead-lettered), and those that are
// scheduled (DLY-12).
func (s *state) purge(m *mail.Purge, now clock.Instant) {
	reply := &mail.PurgeReply{Reply: m.Done(nil)}
	if reply.Err = s.access(m.Connection); reply.Err == nil {
		s.expireDue(now)
		s.renewedBy(policies.RenewedByUpdate, now)
		reply.MessageCount = s.drop() + s.purgeScheduled()
	}
	s.send(m.ReplyTo, reply)
	s.bury(now)
}

// drop removes all ready messages and counts them.
func (s *state) drop() int {
	n := 0
	for {
		h, ok := s.messages.First()
		if !ok {
			return n
		}
		s.wheel.Remove(h)
		s.remove(h, store.Purged)
		n++
	}
}
