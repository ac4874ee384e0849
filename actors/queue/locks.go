package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// renew gives locks their time anew.
func (s *state) renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.LockRenewed{Reply: m.Done(nil)}
	one := func(u consumers.Unsettled, now clock.Instant) {
		if until := s.ackTimeouts.Until(u.Message); until != 0 && until <= now.Floor() {
			return // over, though the timer has yet to say so
		}
		reply.Count++
		own := int64(-1)
		if u.Consumer != nil {
			own = u.Consumer.Timeout
		}
		if until := s.ackTimeouts.Extend(u.Message, now.Ceil(), policies.LowerTimeout(s.Settings.ConsumerTimeout, own)); until != 0 && (reply.Locked == 0 || until+s.Skew < reply.Locked) {
			reply.Locked = until + s.Skew
		}
	}
	if m.Seq == 0 && m.Number != 0 {
		if h := s.consumers.Channel(m.Channel); h != nil {
			if u, ok := h.Unacked.Get(m.Number); ok {
				one(consumers.Unsettled{Delivery: u, Channel: h, Number: m.Number}, now)
			}
		}
		s.out.Send(m.ReplyTo, reply)
		return
	}
	meant := func(u consumers.Unsettled) bool { return u.Consumer != nil && u.Consumer.Tag == m.Tag }
	if m.Seq != 0 {
		meant = func(u consumers.Unsettled) bool { return s.Backlog.Entry(u.Message).Seq == m.Seq }
	}
	all := s.consumers.Scan(int(s.turnMost))
	s.pending.Start(&work.Work{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if meant(u) {
					one(u, now)
				}
			}) || m.Seq != 0 && reply.Count > 0
		},
		End: func(clock.Instant) { s.out.Send(m.ReplyTo, reply) },
	}, now)
}

// returnDelivery takes one back from who holds it.
func returnDelivery(s *state, m *mail.ReturnDelivery, now clock.Instant) {
	var held consumers.Unsettled
	all := s.consumers.Scan(int(s.turnMost))
	s.pending.Start(&work.Work{
		Expires: true, Asked: m,
		Step: func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if s.Backlog.Entry(u.Message).Seq == m.Seq && !u.Channel.Claims { // a move settles its own at once
					held = u
				}
			}) || held.Channel != nil
		},
		End: func(now clock.Instant) {
			if held.Channel != nil {
				told := &mail.DeliveriesReturned{Queue: s.self, Name: s.queue.Name, Asked: true}
				takeBack(s, held.Channel, held.Number, told, now)
				s.out.Send(held.Channel.Address, told)
			}
			s.out.Send(m.ReplyTo, &mail.DeliveryReturned{Reply: m.Done(nil), Found: held.Channel != nil})
		},
	}, now)
}
