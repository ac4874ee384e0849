package queue

import (
	"maps"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// unsettled is a delivery that nobody has settled yet.
type unsettled struct {
	unackedDelivery
	channel *consumerChannel
	number  uint64
}

// scan goes over all that nobody has settled, in no order and a turn's worth at a
// time.
type scan struct {
	channels []*consumerChannel
	next     uint64 // number to go on with at the first of them
	limit    int    // deliveries in a step
}

func (s *state) scan() *scan {
	return &scan{slices.Collect(maps.Values(s.channels)), 1, int(s.turnMost)}
}

// step calls f for a turn's worth of deliveries. It reports whether that were the last.
func (x *scan) step(f func(unsettled)) (done bool) {
	left := x.limit
	for ; len(x.channels) > 0 && left > 0; left-- {
		h := x.channels[0]
		x.next = h.unacked.Some(x.next, left, func(number uint64, u unackedDelivery) {
			f(unsettled{u, h, number})
			left--
		})
		if x.next == 0 {
			x.channels, x.next = x.channels[1:], 1
		}
	}
	return len(x.channels) == 0
}

// second is the turn's time in s since 1970: 32 bits will do until 2106, and do not
// make a delivery longer.
func (s *state) second() uint32 { return uint32(s.at / 1000) }

// lockedUntil is when a delivery goes back, by the wall clock in ms, 0 for never.
func (s *state) lockedUntil(h backlog.Handle) int64 { return s.wall(s.ackDeadline(h)) }

// ackDeadline is that in the broker's time.
func (s *state) ackDeadline(h backlog.Handle) int64 {
	if s.ackTimeouts == nil {
		return 0
	}
	x, found := s.ackTimeouts.byMessage[h]
	if !found {
		return 0
	}
	return x.until + s.ackTimeouts.shift
}

// listUnacked shows deliveries and changes nothing.
func (s *state) listUnacked(m *mail.ListUnacked, now clock.Instant) {
	limit, all := limitOf(m.Limit), s.scan()
	found := lowest[unsettled, uint64]{limit: limit + 1, key: func(u unsettled) uint64 { return s.messages.Entry(u.message).Seq }}
	s.startWork(&work{
		expires: true, asked: m,
		step: func(clock.Instant) bool {
			return all.step(func(u unsettled) {
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

func (s *state) showUnsettled(u unsettled) mail.UnackedDelivery {
	e := s.messages.Entry(u.message)
	d := mail.UnackedDelivery{
		Seq: e.Seq, Channel: u.channel.address, Number: u.number, Delivered: int64(u.since)*1000 + s.skew, Locked: s.lockedUntil(u.message),
		Expires: s.wall(e.Deadline), Size: s.messages.Size(u.message), DeliveryCount: e.DeliveryCount, Redelivered: e.Redelivered,
	}
	if u.consumer != nil {
		d.Tag = u.consumer.tag
	}
	return d
}

// renew gives locks their time anew.
func (s *state) renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.LockRenewed{Reply: m.Done(nil)}
	one := func(u unsettled, now clock.Instant) {
		if until := s.ackDeadline(u.message); until != 0 && until <= now.Floor() {
			return // over, though the timer has yet to say so
		}
		reply.Count++
		if until := s.wall(s.renewOne(u, now)); until != 0 && (reply.Locked == 0 || until < reply.Locked) {
			reply.Locked = until
		}
	}
	if m.Seq == 0 && m.Number != 0 {
		if h := s.channels[m.Channel.Id]; h != nil {
			if u, ok := h.unacked.Get(m.Number); ok {
				one(unsettled{u, h, m.Number}, now)
			}
		}
		s.send(m.ReplyTo, reply)
		return
	}
	meant := func(u unsettled) bool { return u.consumer != nil && u.consumer.tag == m.Tag }
	if m.Seq != 0 {
		meant = func(u unsettled) bool { return s.messages.Entry(u.message).Seq == m.Seq }
	}
	all := s.scan()
	s.startWork(&work{
		expires: true, asked: m,
		step: func(now clock.Instant) bool {
			return all.step(func(u unsettled) {
				if meant(u) {
					one(u, now)
				}
			}) || m.Seq != 0 && reply.Count > 0
		},
		end: func(clock.Instant) { s.send(m.ReplyTo, reply) },
	}, now)
}

// renewOne returns when the lock ends, in the broker's time, 0 for never.
func (s *state) renewOne(u unsettled, now clock.Instant) int64 {
	until := s.ackDeadline(u.message)
	own := int64(-1)
	if u.consumer != nil {
		own = u.consumer.timeout
	}
	timeout := policies.LowerTimeout(s.settings.ConsumerTimeout, own)
	if until == 0 || timeout < 0 || after(now.Ceil(), timeout) <= until {
		return until
	}
	l := s.ackTimeouts
	l.wheel.Remove(u.message)
	x := l.byMessage[u.message]
	x.until = after(now.Ceil(), timeout) - l.shift
	l.byMessage[u.message] = x
	l.wheel.Add(u.message)
	return x.until + l.shift
}
