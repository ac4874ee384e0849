package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// TimesReader returns the reader of the times in headers that matter to the queue.
func (s *Messages) TimesReader() content.Reader {
	return content.Reader{
		Holds: s.Holds, Schedules: s.Settings.DelayedMessages, DeliverAt: s.Settings.DeliverAtHeader,
		ExpiresAt: s.Settings.ExpiresAtHeader, Dates: &s.Dates,
	}
}

// ExpiredByHeader reports whether a message, whose content must be in memory, is past the expiry time in its header.
func (s *Messages) ExpiredByHeader(h backlog.Handle, now clock.Instant) bool {
	if s.Settings.ExpiresAtHeader == "" || s.Backlog.IsPaged(h) {
		return false
	}
	var r backlog.Record
	s.Backlog.Get(h, &r)
	reader := s.TimesReader()
	at, ok := reader.Expiry(r.Overlay, r.Header)
	return ok && at <= now.Floor()
}

// Schedule adds a scheduled message, which does not count towards any limit. It reports whether the message was
// written to the journal.
func (s *Messages) Schedule(m *message.Message, times content.Times, now clock.Instant) (stored bool) {
	due := times.Due
	if times.Dated {
		m.Cap(max(times.Expires-due.At, 0)) // TTL starts when it is due
	}
	s.Seq++
	if s.Sessions != nil {
		s.JoinSession(m)
	}
	var r backlog.Record
	content.Keep(&r, m, s.Seq, due.At, now.Ceil(), s.Settings.PriorityOf(m.Priority), s.Journal.Stores(m))
	return s.EnsureScheduled().Enqueue(&r, times, &s.Journal, s.OverLimit)
}

// Release moves a scheduled message that is due to the tail of the queue, as ready, and writes a record of this.
func (s *Messages) Release(h backlog.Handle) backlog.Handle {
	h = s.Scheduled.Move(h, &s.Backlog, &s.Expiry, &s.Journal)
	e := s.Backlog.Entry(h)
	s.Journal.Release(e, s.Settings.MessageTTL)
	e.Marks |= backlog.Released
	s.Sessions.Enter(e.Seq, h)
	return h
}

// NeedsContent reports whether the content of a scheduled message has to be read before its release: its TTL is 0, so
// it is either delivered at that moment or expires.
func (s *Messages) NeedsContent(h backlog.Handle) bool {
	x := s.Scheduled
	if !x.Messages.Backlog.IsPaged(h) || x.Messages.Backlog.Deadline(h) <= x.Overdue || s.Holds || x.Messages.Backlog.Entry(h).Marks&backlog.Damaged != 0 {
		return false
	}
	_, own := x.Messages.Backlog.Times(h)
	return s.Expiry.TTL(own) == 0 && s.Backlog.Ready() == 0
}

// SendRecovered sends a delayed exchange the messages that were released before a crash and may not have arrived
// (DLY-14). It reports whether more may be left.
func (s *Messages) SendRecovered() (more bool) {
	for n := 0; s.Holds && s.Backlog.Ready() > 0; n++ {
		if n == TurnLimit {
			return true
		}
		h, _ := s.Backlog.First()
		s.Expiry.Remove(h)
		s.EndReady(h, store.Expired)
	}
	return false
}
