package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/paging"
	"candlemark/actors/queue/records"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// Memory says which messages the queue holds, and how tight memory is.
func (s *Set) Memory() paging.Memory {
	return paging.Memory{
		Messages: &s.Backlog, Scheduled: s.Scheduled, Journal: &s.Journal,
		OverLimit: s.OverLimit, Critical: s.Critical, Consumed: s.Consumed,
	}
}

// Page reads the contents that are soon needed if the queue is live, and lets others leave while memory is
// tight. It reports whether there is more to do.
func (s *Set) Page(now clock.Instant, live bool) (more bool) {
	if s.Backlog.Paged() > 0 && s.Consumed && live {
		s.Pager.ReadAhead(s.Memory(), now)
	}
	return s.OverLimit && !s.draining && s.Pager.Trim(s.Memory())
}

// HasContent reports whether the content of h, a ready message that is to leave now,
// is in memory; else it is ordered, with what follows.
func (s *Set) HasContent(h backlog.Handle, now clock.Instant) bool {
	if !s.Backlog.IsPaged(h) {
		return true
	}
	s.Pager.Catch(s.Memory(), now)
	return false
}

// Loaded gives messages the contents that were read.
func (s *Set) Loaded(handles []backlog.Handle, contents []store.Content, now clock.Instant) {
	if err := s.Pager.Loaded(&s.Backlog, handles, contents, now, s.draining, s.dropDamaged); err != nil {
		s.Notices.Rare().Unread = err
	}
}

// dropDamaged is the end of a message that cannot be read back. A dead letter
// stays until it is its turn.
func (s *Set) dropDamaged(h backlog.Handle) {
	e := s.Backlog.Entry(h)
	s.Counts.Damaged++
	r := s.Notices.Rare()
	r.Damaged = append(r.Damaged, e.Seq)
	if !s.Backlog.IsReady(h) {
		e.Marks |= backlog.Damaged
		return
	}
	s.Expiry.Remove(h)
	s.Remove(h, store.Damaged)
}

// Damaged is the end of a message that cannot be read back, and of what is noted down under such a number.
func Damaged(s *Set, seq uint64) {
	if h, ok := s.Sessions.Place(seq); ok {
		s.dropDamaged(h)
		return
	}
	r := s.Notices.Rare()
	r.Damaged = append(r.Damaged, seq)
}

// Written: what was handed over is durable, or lost.
func (s *Set) Written(c *records.Commit, err error) {
	if s.Journal.Done(c, err) {
		s.Notices.Rare().Broken = err
	}
	if err == nil {
		s.Pager.Written(s.Memory(), c)
	}
	c.Recycle()
}
