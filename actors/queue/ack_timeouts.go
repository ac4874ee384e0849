package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// ackTimeouts are the unacknowledged deliveries that have to be settled in time, the
// consumer timeout (ADR 10). Their wheel goes by the links of the messages'
// entries, which are free while a message is not ready.
type ackTimeouts struct {
	messages  *backlog.Backlog
	wheel     wheel.Wheel[*ackTimeouts]
	byMessage map[backlog.Handle]ackTimeout
	due       []backlog.Handle // what the wheel fires, reused
	// shift is by how many ms the wheel's time is behind the broker's: the machine
	// slept so long, which is held against nobody.
	shift int64
}

// ackTimeout is one delivery and when it is over.
type ackTimeout struct {
	channel *consumers.Channel
	number  uint64
	until   int64 // ms, in the wheel's time
}

// Links implements wheel.Store.
func (l *ackTimeouts) Links(h backlog.Handle) *wheel.Links { return l.messages.Links(h) }

// Deadline implements wheel.Store.
func (l *ackTimeouts) Deadline(h backlog.Handle) int64 { return l.byMessage[h].until }

// Next is when expireAckTimeouts is to be called, in wall ms of the broker's time.
func (l *ackTimeouts) Next() (int64, bool) {
	if l == nil {
		return 0, false
	}
	at, ok := l.wheel.Next()
	return at + l.shift, ok
}

// startAckTimeout fixes when a delivery has to be settled: by the lower of the queue's
// timeout and own, the consumer's, as they are now.
func (s *state) startAckTimeout(h backlog.Handle, to *consumers.Channel, number uint64, own int64, now clock.Instant) {
	timeout := policies.LowerTimeout(s.settings.ConsumerTimeout, own)
	if timeout < 0 {
		return
	}
	l := s.ackTimeouts
	if l == nil {
		l = &ackTimeouts{messages: &s.messages, byMessage: map[backlog.Handle]ackTimeout{}}
		l.wheel = wheel.New(l)
		s.ackTimeouts = l
	}
	if l.wheel.Len() == 0 {
		l.wheel.Advance(now.Floor()-l.shift, 0, nil) // nothing fires; it only learns the time
	}
	l.byMessage[h] = ackTimeout{to, number, after(now.Ceil(), timeout) - l.shift}
	l.wheel.Add(h)
}

// timeout is that of c in ms, -1 for none.
func (s *state) timeout(c *consumers.Consumer) int64 {
	if c.NoAck {
		return -1
	}
	return policies.LowerTimeout(s.settings.ConsumerTimeout, c.Timeout)
}

// stopAckTimeout ends one: the delivery is settled or comes back.
func (s *state) stopAckTimeout(h backlog.Handle) {
	if s.ackTimeouts == nil {
		return
	}
	if _, found := s.ackTimeouts.byMessage[h]; found {
		s.ackTimeouts.wheel.Remove(h)
		delete(s.ackTimeouts.byMessage, h)
	}
}

// expireAckTimeouts takes back what was not settled in time, a turn's worth at a time, and
// cancels the consumers that had it.
func (s *state) expireAckTimeouts(now clock.Instant) (more bool) {
	l := s.ackTimeouts
	if l == nil {
		return false
	}
	more = l.wheel.Advance(now.Floor()-l.shift, turnLimit, func(h uint32) { l.due = append(l.due, h) })
	var cancelled []*consumers.Consumer
	told := map[*consumers.Channel]*mail.DeliveriesReturned{}
	for _, h := range l.due {
		x := l.byMessage[h]
		u, _ := x.channel.Unacked.Take(x.number)
		s.counts.TimedOut++
		m := told[x.channel]
		if m == nil {
			m = &mail.DeliveriesReturned{Queue: s.self, Name: s.queue.Name}
			told[x.channel] = m
			s.send(x.channel.Address, m)
		}
		m.Add(x.number)
		s.requeue(u, now)
		if c := u.Consumer; c != nil && !c.Gone() {
			s.detach(c, now)
			cancelled = append(cancelled, c)
		}
	}
	if l.due = l.due[:0]; cap(l.due) > 64 {
		l.due = nil
	}
	for _, c := range cancelled {
		s.send(c.Channel.Address, &mail.ConsumerCancelled{Queue: s.self, Tag: c.Tag})
	}
	return more
}
