package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

// second is the turn's time in s since 1970: 32 bits will do until 2106, and do not
// make a delivery longer.
func (s *state) second() uint32 { return uint32(s.journal.At / 1000) }

// lockedUntil is when a delivery goes back, by the wall clock in ms, 0 for never.
func (s *state) lockedUntil(h backlog.Handle) int64 { return s.wall(s.ackTimeouts.Until(h)) }

// listUnacked shows deliveries and changes nothing.
func (s *state) listUnacked(m *mail.ListUnacked, now clock.Instant) {
	limit, all := limitOf(m.Limit), s.consumers.Scan(int(s.turnMost))
	found := lowest[consumers.Unsettled, uint64]{limit: limit + 1, key: func(u consumers.Unsettled) uint64 { return s.messages.Entry(u.Message).Seq }}
	s.startWork(&work{
		expires: true, asked: m,
		step: func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if found.key(u) > m.After {
					found.add(u)
				}
			})
		},
		end: func(clock.Instant) {
			list := found.list()
			page := &mail.UnackedPage{Reply: m.Done(nil), More: len(list) > limit}
			for _, u := range list[:min(len(list), limit)] {
				page.Deliveries = append(page.Deliveries, s.showUnsettled(u))
			}
			s.send(m.ReplyTo, page)
		},
	}, now)
}

func (s *state) showUnsettled(u consumers.Unsettled) mail.UnackedDelivery {
	e := s.messages.Entry(u.Message)
	d := mail.UnackedDelivery{
		Seq: e.Seq, Channel: u.Channel.Address, Number: u.Number, Delivered: int64(u.Since)*1000 + s.skew, Locked: s.lockedUntil(u.Message),
		Expires: s.wall(e.Deadline), Size: s.messages.Size(u.Message), DeliveryCount: e.DeliveryCount, Redelivered: e.Redelivered,
	}
	if u.Consumer != nil {
		d.Tag = u.Consumer.Tag
	}
	return d
}

// renew gives locks their time anew.
func (s *state) renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.LockRenewed{Reply: m.Done(nil)}
	one := func(u consumers.Unsettled, now clock.Instant) {
		if until := s.ackTimeouts.Until(u.Message); until != 0 && until <= now.Floor() {
			return // over, though the timer has yet to say so
		}
		reply.Count++
		if until := s.wall(s.renewOne(u, now)); until != 0 && (reply.Locked == 0 || until < reply.Locked) {
			reply.Locked = until
		}
	}
	if m.Seq == 0 && m.Number != 0 {
		if h := s.consumers.Channel(m.Channel); h != nil {
			if u, ok := h.Unacked.Get(m.Number); ok {
				one(consumers.Unsettled{Delivery: u, Channel: h, Number: m.Number}, now)
			}
		}
		s.send(m.ReplyTo, reply)
		return
	}
	meant := func(u consumers.Unsettled) bool { return u.Consumer != nil && u.Consumer.Tag == m.Tag }
	if m.Seq != 0 {
		meant = func(u consumers.Unsettled) bool { return s.messages.Entry(u.Message).Seq == m.Seq }
	}
	all := s.consumers.Scan(int(s.turnMost))
	s.startWork(&work{
		expires: true, asked: m,
		step: func(now clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if meant(u) {
					one(u, now)
				}
			}) || m.Seq != 0 && reply.Count > 0
		},
		end: func(clock.Instant) { s.send(m.ReplyTo, reply) },
	}, now)
}

// renewOne returns when the lock ends, in the broker's time, 0 for never.
func (s *state) renewOne(u consumers.Unsettled, now clock.Instant) int64 {
	until := s.ackTimeouts.Until(u.Message)
	own := int64(-1)
	if u.Consumer != nil {
		own = u.Consumer.Timeout
	}
	timeout := policies.LowerTimeout(s.settings.ConsumerTimeout, own)
	if renewed := store.After(now.Ceil(), timeout); until != 0 && timeout >= 0 && renewed > until {
		s.ackTimeouts.Renew(u.Message, renewed)
		return renewed
	}
	return until
}
