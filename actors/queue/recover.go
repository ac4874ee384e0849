package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/records"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// restore pushes what the journal had, paged out. Deadlines are as they were
// fixed, or follow from the settings where those are retroactive (TTL-25): both
// count on while the broker is down (TTL-26). What was scheduled and not released goes
// on waiting; what was released stands where its time puts it (DLY-14).
func (s *state) restore(recovered []store.Recovered) {
	if n := len(recovered); n > 0 {
		s.seq = max(s.seq, recovered[n-1].Seq)
	}
	if waiting := records.Order(recovered, s.holdsDelayed, s.restoreOne); len(waiting) > 0 {
		s.ensureScheduled().Restore(waiting, s.settings.MaxPriority)
	}
}

// restoreOne brings back a message that was in the queue.
func (s *state) restoreOne(m *store.Recovered) {
	r := content.Recovered(m, s.settings.MaxPriority)
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
		s.dueNow = s.phase.becomeLive() // what came due before
		s.waking = m
		s.lease.Renew(now.Ceil()) // its full period after a restart (LEASE-4)
	case timerFired, again:
	default:
		s.pending.Park(what)
	}
}

// wakeIfDone answers Wake when the turns that the sweep took are over.
func (s *state) wakeIfDone(more bool) {
	if s.waking != nil && !more {
		s.send(s.waking.ReplyTo, &mail.QueueAwake{Reply: s.waking.Done(nil)})
		s.waking = nil
	}
}
