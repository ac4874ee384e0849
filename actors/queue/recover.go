package queue

import (
	"cmp"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// restore pushes what the journal had, paged out. Deadlines are as they were
// fixed, or follow from the settings where those are retroactive (TTL-25): both
// count on while the broker is down (TTL-26). What was scheduled and not released goes
// on waiting; what was released stands where its time puts it (DLY-14).
func (s *state) restore(recovered []store.Recovered) {
	var released []*store.Recovered // in the order of their times
	var waiting []backlog.Handle
	for i := range recovered {
		m := &recovered[i]
		s.seq = max(s.seq, m.Seq)
		if s.holdsDelayed && m.Due == 0 { // written before there were scheduled messages
			m.Due = m.Deadline
		}
		if m.Due != 0 && m.Released {
			released = append(released, m)
		}
	}
	slices.SortFunc(released, func(a, b *store.Recovered) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) })
	for i := range recovered {
		switch m := &recovered[i]; {
		case m.Due == 0:
			for len(released) > 0 && released[0].Due < m.Time {
				s.restoreOne(released[0])
				released = released[1:]
			}
			s.restoreOne(m)
		case !m.Released:
			waiting = append(waiting, s.restoreScheduled(m))
		}
	}
	if len(waiting) > 0 {
		s.scheduled.AddAll(waiting)
	}
	for _, m := range released {
		s.restoreOne(m)
	}
}

// restoreOne brings back a message that was in the queue.
func (s *state) restoreOne(m *store.Recovered) {
	r := s.record(m)
	marks := backlog.Stored
	switch {
	case m.Due != 0:
		r.Enqueued, r.Deadline = m.Due, store.After(m.Due, s.expiry.TTL(m.TTL))
		marks |= backlog.Released
	case s.settings.RetroactiveTTL:
		r.Deadline = store.After(m.Time, s.expiry.TTL(m.TTL))
	}
	if s.holdsDelayed {
		r.Deadline = store.Never // its exchange gets it
	}
	h := s.messages.PushPaged(&r, m.Body, uint64(m.At))
	s.messages.Entry(h).Marks = marks
	s.expiry.Add(h)
}

// restoreScheduled brings back a message that waits for its time.
func (s *state) restoreScheduled(m *store.Recovered) backlog.Handle {
	x := s.ensureScheduled()
	r := s.record(m)
	r.Deadline, r.DeliveryCount = m.Due, 0
	h := x.Messages.PushPaged(&r, m.Body, uint64(m.At))
	x.Messages.Entry(h).Marks = backlog.Stored
	x.Chain(h, m.MessageID)
	return h
}

func (s *state) record(m *store.Recovered) backlog.Record {
	return backlog.Record{
		Deadline: m.Deadline, TTL: m.TTL, Enqueued: m.Time, Seq: m.Seq, DeliveryCount: m.Deliveries,
		Priority: min(m.Priority, s.settings.MaxPriority), Redelivered: m.Redelivered, Persistent: true,
	}
}

// handleAsleep takes mail while the queue is asleep.
func (s *state) handleAsleep(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.Configure:
		before := s.settings
		s.effective, s.settings = m.Effective, m.Settings
		s.lease.SetPeriod(period(s.settings.Expires), now.Ceil())
		s.forwardToChanged(&before, now)
		for s.expiry.Follow(&before); s.expiry.Recompute(turnLimit); {
		}
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Wake:
		s.becomeLive()
		s.waking = m
		s.lease.Renew(now.Ceil()) // its full period after a restart (LEASE-4)
	case timerFired, again:
	default:
		s.parked = append(s.parked, what)
	}
}

// wakeIfDone answers Wake when the turns that the sweep took are over.
func (s *state) wakeIfDone(more bool) {
	if s.waking != nil && !more {
		s.send(s.waking.ReplyTo, &mail.QueueAwake{Reply: s.waking.Done(nil)})
		s.waking = nil
	}
}
