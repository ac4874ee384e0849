package queue

import (
	"iter"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// unsettled is a delivery that nobody has settled yet.
type unsettled struct {
	held
	holder *holder
	number uint64
}

// deliveries are all that nobody has settled, in no order.
func (s *state) deliveries() iter.Seq[unsettled] {
	return func(yield func(unsettled) bool) {
		more := true
		for _, h := range s.holders {
			h.unacked.Each(func(number uint64, u held) bool {
				more = yield(unsettled{u, h, number})
				return more
			})
			if !more {
				return
			}
		}
	}
}

// second is the turn's time in s since 1970: 32 bits will do until 2106, and do not
// make a delivery longer.
func (s *state) second() uint32 { return uint32(s.at / 1000) }

// lockOf is when a delivery goes back, by the wall clock in ms, 0 for never.
func (s *state) lockOf(h backlog.Handle) int64 { return s.wall(s.lent(h)) }

// lent is that in the broker's time.
func (s *state) lent(h backlog.Handle) int64 {
	if s.loans == nil {
		return 0
	}
	return s.loans.of[h].until
}

// listUnacked shows deliveries and changes nothing.
func (s *state) listUnacked(m *mail.ListUnacked) {
	page := &mail.UnackedPage{Reply: m.Done(nil)}
	limit := limitOf(m.Limit)
	all := func(yield func(unsettled) bool) {
		for u := range s.deliveries() {
			if s.messages.Entry(u.message).Seq > m.After && !yield(u) {
				return
			}
		}
	}
	found := lowest(all, limit+1, func(u unsettled) uint64 { return s.messages.Entry(u.message).Seq })
	if page.More = len(found) > limit; page.More {
		found = found[:limit]
	}
	for _, u := range found {
		e := s.messages.Entry(u.message)
		d := mail.UnackedDelivery{
			Seq: e.Seq, Channel: u.holder.channel, Number: u.number, Delivered: int64(u.since)*1000 + s.skew, Locked: s.lockOf(u.message),
			Expires: s.wall(e.Deadline), Size: s.messages.Size(u.message), DeliveryCount: e.DeliveryCount, Redelivered: e.Redelivered,
		}
		if u.consumer != nil {
			d.Tag = u.consumer.tag
		}
		page.Deliveries = append(page.Deliveries, d)
	}
	s.send(m.ReplyTo, page)
}

// renew gives locks their time anew.
func (s *state) renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.LockRenewed{Reply: m.Done(nil)}
	one := func(u unsettled) {
		if until := s.lent(u.message); until != 0 && until <= now.Floor() {
			return // over, though the timer has yet to say so
		}
		reply.Count++
		if until := s.wall(s.renewOne(u, now)); until != 0 && (reply.Locked == 0 || until < reply.Locked) {
			reply.Locked = until
		}
	}
	switch {
	case m.Seq != 0:
		for u := range s.deliveries() {
			if s.messages.Entry(u.message).Seq == m.Seq {
				one(u)
				break
			}
		}
	case m.Number != 0:
		if h := s.holders[m.Channel.Id]; h != nil {
			if u, ok := h.unacked.Get(m.Number); ok {
				one(unsettled{u, h, m.Number})
			}
		}
	default:
		for u := range s.deliveries() {
			if u.consumer != nil && u.consumer.tag == m.Tag {
				one(u)
			}
		}
	}
	s.send(m.ReplyTo, reply)
}

// renewOne returns when the lock ends, in the broker's time, 0 for never.
func (s *state) renewOne(u unsettled, now clock.Instant) int64 {
	until := s.lent(u.message)
	own := int64(-1)
	if u.consumer != nil {
		own = u.consumer.timeout
	}
	timeout := policies.LowerTimeout(s.settings.ConsumerTimeout, own)
	if until == 0 || timeout < 0 || after(now.Ceil(), timeout) <= until {
		return until
	}
	l := s.loans
	l.wheel.Remove(u.message)
	x := l.of[u.message]
	x.until = after(now.Ceil(), timeout)
	l.of[u.message] = x
	l.wheel.Add(u.message)
	return x.until
}
