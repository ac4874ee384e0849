package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/schedule"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// ensureScheduled makes room for scheduled messages.
func (s *state) ensureScheduled() *schedule.Schedule {
	if s.scheduled == nil {
		s.scheduled = schedule.New(s.messages.Budget)
	}
	return s.scheduled
}

// scheduledPending reports whether messages wait for their time.
func (s *state) scheduledPending() bool { return s.scheduledCount() > 0 }

func (s *state) scheduledCount() int {
	if s.scheduled == nil {
		return 0
	}
	return s.scheduled.Len()
}

func (s *state) nextScheduled() (backlog.Handle, bool) {
	if s.scheduled == nil {
		return 0, false
	}
	h, _, ok := s.scheduled.First()
	return h, ok
}

// reader finds the times that messages name for the queue.
func (s *state) reader() content.Reader {
	return content.Reader{
		Holds: s.holdsDelayed, Schedules: s.settings.DelayedMessages, DeliverAt: s.settings.DeliverAtHeader,
		ExpiresAt: s.settings.ExpiresAtHeader, Skew: s.skew,
	}
}

// addScheduled keeps a message until it is due. It counts against no limit. It reports
// whether the message was written down.
func (s *state) addScheduled(m *message.Message, times content.Times, now clock.Instant) (stored bool) {
	due := times.Due
	if times.Dated {
		m.Cap(max(times.Expires-due.At, 0)) // TTL begins when it is due
	}
	x := s.ensureScheduled()
	s.seq++
	r := content.Kept(m, s.seq, due.At, now.Ceil(), s.settings.MaxPriority)
	h := x.Messages.Push(&r)
	x.Add(h, times.ID)
	switch {
	case s.journal.Keeps(m.Persistent):
		w := s.journal.Put(&x.Messages.Backlog, h)
		if w.Due = due.At; due.Dated {
			w.Deadline = store.Never
		}
		return true
	case s.overLimit:
		s.journal.Spill(&x.Messages.Backlog, h, true)
	}
	return false
}

// unschedule drops a scheduled message for good.
func (s *state) unschedule(h backlog.Handle, why store.Reason) {
	x := s.scheduled
	s.journal.Remove(x.Messages.Entry(h), why)
	x.Remove(h)
}

// moveToReady makes a scheduled message the last of its priority in the queue, ready, with
// the number that it has. Its time there begins when it was due: so its TTL does
// (DLY-9). It needs no content for that.
func (s *state) moveToReady(h backlog.Handle) backlog.Handle {
	x := s.scheduled
	e := x.Messages.Entry(h)
	due, marks, place, paged := e.Deadline, e.Marks&backlog.Stored, x.Messages.Place(h), x.Messages.IsPaged(h)
	r := backlog.Record{Seq: e.Seq, Priority: x.Messages.Priority(h), Persistent: e.Persistent}
	size := x.Messages.Size(h)
	if paged {
		_, r.TTL = x.Messages.Times(h)
	} else {
		r = x.Messages.Get(h)
		r.DeliveryCount = 0
	}
	r.Enqueued, r.Deadline = due, store.After(due, s.expiry.TTL(r.TTL))
	x.Remove(h)
	var to backlog.Handle
	if paged {
		to = s.messages.PushPaged(&r, uint32(size), place)
	} else if to = s.messages.Push(&r); place != 0 {
		s.messages.SetPlace(to, place)
	}
	s.messages.Entry(to).Marks = marks
	if marks != 0 && place == 0 {
		s.journal.Follow(r.Seq, h, to)
	}
	return to
}
