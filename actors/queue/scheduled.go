package queue

import (
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/schedule"
	"candlemark/internal/clock"
	"candlemark/internal/message"
)

// ensureScheduled makes room for scheduled messages.
func (s *state) ensureScheduled() *schedule.Schedule {
	if s.scheduled == nil {
		s.scheduled = schedule.New(s.messages.Budget)
	}
	return s.scheduled
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
	s.seq++
	r := content.Kept(m, s.seq, due.At, now.Ceil(), s.settings.MaxPriority)
	return s.ensureScheduled().Enqueue(&r, times, &s.journal, s.overLimit)
}
