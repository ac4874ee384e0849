package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// loans are the unacknowledged deliveries that have to be settled in time, the
// consumer timeout (ADR 10). Their wheel goes by the links of the messages'
// entries, which are free while a message is not ready.
type loans struct {
	messages *backlog.Backlog
	wheel    wheel.Wheel[*loans]
	of       map[backlog.Handle]loan
	due      []backlog.Handle // what the wheel fires, reused
	// shift is by how many ms the wheel's time is behind the broker's: the machine
	// slept so long, which is held against nobody.
	shift int64
}

// loan is one delivery and when it is over.
type loan struct {
	holder *holder
	number uint64
	until  int64 // ms, in the wheel's time
}

// Links implements wheel.Store.
func (l *loans) Links(h backlog.Handle) *wheel.Links { return l.messages.Links(h) }

// Deadline implements wheel.Store.
func (l *loans) Deadline(h backlog.Handle) int64 { return l.of[h].until }

// lend fixes when a delivery has to be settled: by the lower of the queue's
// timeout and own, the consumer's, as they are now.
func (s *state) lend(h backlog.Handle, to *holder, number uint64, own int64, now clock.Instant) {
	timeout := policies.LowerTimeout(s.settings.ConsumerTimeout, own)
	if timeout < 0 {
		return
	}
	l := s.loans
	if l == nil {
		l = &loans{messages: &s.messages, of: map[backlog.Handle]loan{}}
		l.wheel = wheel.New(l)
		s.loans = l
	}
	if l.wheel.Len() == 0 {
		l.wheel.Advance(now.Floor()-l.shift, 0, nil) // nothing fires; it only learns the time
	}
	l.of[h] = loan{to, number, after(now.Ceil(), timeout) - l.shift}
	l.wheel.Add(h)
}

// timeout is that of c in ms, -1 for none.
func (s *state) timeout(c *consumer) int64 {
	if c.noAck {
		return -1
	}
	return policies.LowerTimeout(s.settings.ConsumerTimeout, c.timeout)
}

// repay forgets a loan: the delivery is settled or comes back.
func (s *state) repay(h backlog.Handle) {
	if s.loans == nil {
		return
	}
	if _, lent := s.loans.of[h]; lent {
		s.loans.wheel.Remove(h)
		delete(s.loans.of, h)
	}
}

// recall takes back what was not settled in time, a turn's worth at a time, and
// cancels the consumers that had it. It reports whether there were any.
func (s *state) recall(now clock.Instant) bool {
	l := s.loans
	if l == nil {
		return false
	}
	if l.wheel.Advance(now.Floor()-l.shift, turnLimit, func(h uint32) { l.due = append(l.due, h) }) {
		s.out.again = true
	}
	var cancelled []*consumer
	told := map[*holder]*mail.DeliveriesReturned{}
	for _, h := range l.due {
		x := l.of[h]
		u, _ := x.holder.unacked.Take(x.number)
		s.counts.TimedOut++
		m := told[x.holder]
		if m == nil {
			m = &mail.DeliveriesReturned{Queue: s.self, Name: s.queue.Name}
			told[x.holder] = m
			s.send(x.holder.channel, m)
		}
		m.Add(x.number)
		s.giveBack(u, now)
		if c := u.consumer; c != nil && !c.gone {
			s.disallow(c.holder, 0)
			s.detach(c, now)
			cancelled = append(cancelled, c)
		}
	}
	if l.due = l.due[:0]; cap(l.due) > 64 {
		l.due = nil
	}
	for _, c := range cancelled {
		s.send(c.holder.channel, &mail.ConsumerCancelled{Queue: s.self, Tag: c.tag})
	}
	return len(cancelled) > 0
}
