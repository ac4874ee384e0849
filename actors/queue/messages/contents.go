package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/paging"
	"candlemark/actors/queue/records"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Memory returns the queue's messages for the pager, and the state of memory.
func (s *Messages) Memory() paging.Memory {
	return paging.Memory{
		Messages: &s.Backlog, Scheduled: s.Scheduled, Journal: &s.Journal,
		OverLimit: s.OverLimit, Critical: s.Critical, Consumed: s.Consumed,
	}
}

// Page reads contents needed soon, if the queue is live, and pages others out while memory is tight. It reports whether
// work remains.
func (s *Messages) Page(now clock.Instant, live bool) (more bool) {
	if s.Backlog.Paged() > 0 && s.Consumed && live {
		s.Pager.ReadAhead(s.Memory(), now)
	}
	return s.OverLimit && !s.closing && s.Pager.Trim(s.Memory())
}

// HasContent reports whether the content of h, a ready message to be delivered now, is in memory; otherwise it requests
// the content and the contents after it.
func (s *Messages) HasContent(h backlog.Handle, now clock.Instant) bool {
	if !s.Backlog.IsPaged(h) {
		return true
	}
	s.Pager.Catch(s.Memory(), now)
	return false
}

// Loaded stores contents read from the journal, with their size according to Pager.Orders.
func (s *Messages) Loaded(handles []backlog.Handle, contents []store.Content, bytes int64, now clock.Instant) {
	if err := s.Pager.Loaded(&s.Backlog, handles, contents, bytes, now, s.closing, s.dropDamaged); err != nil {
		s.Notices.Rare().Unread = err
	}
}

// dropDamaged ends a message that cannot be read. A dead letter stays until its turn.
func (s *Messages) dropDamaged(h backlog.Handle) {
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

// Damaged ends the message, session state or id with that number, which cannot be read.
func Damaged(s *Messages, seq uint64) {
	if h, ok := s.Sessions.Place(seq); ok {
		s.dropDamaged(h)
		return
	}
	r := s.Notices.Rare()
	r.Damaged = append(r.Damaged, seq)
}

// Written handles the end of a commit: durable, or failed with err.
func (s *Messages) Written(c *records.Commit, err error) {
	if s.Journal.Done(c, err) {
		s.Notices.Rare().Broken = err
	}
	if err == nil {
		s.Pager.Written(s.Memory(), c)
	}
	c.Recycle()
}
