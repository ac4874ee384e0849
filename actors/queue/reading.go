package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/paging"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// loaded: contents were read back, of the messages in handles.
type loaded struct {
	handles  []backlog.Handle
	contents []store.Content
}

// memory says which messages the queue holds, and how tight memory is.
func (s *state) memory() paging.Memory {
	return paging.Memory{
		Messages: &s.messages, Scheduled: s.scheduled, Journal: &s.journal,
		OverLimit: s.overLimit, Critical: s.critical, Consumed: s.consumers.Len() > 0,
	}
}

// hasContent reports whether the content of h, a ready message that is to leave now,
// is in memory; else it is ordered, with what follows.
func (s *state) hasContent(h backlog.Handle, now clock.Instant) bool {
	if !s.messages.IsPaged(h) {
		return true
	}
	s.pager.Catch(s.memory(), now)
	return false
}

// contentsRead gives messages the contents that were read, and goes on with what
// waited for them.
func (s *state) contentsRead(m loaded, now clock.Instant) {
	if err := s.pager.Loaded(&s.messages, m.handles, m.contents, now, s.phase >= draining, s.dropDamaged); err != nil {
		s.out.notices.Rare().Unread = err
	}
	if s.phase == live && s.pending.Work() == nil {
		s.resumeGets(now)
		s.deadLetters.Retry(now, s.skew)
	}
}

// resumeGets goes on with the commands that wait for contents.
func (s *state) resumeGets(now clock.Instant) {
	gets := s.gets
	s.gets = nil
	for _, g := range gets {
		s.get(g, now)
	}
}

// dropDamaged is the end of a message that cannot be read back. A dead letter
// stays until it is its turn.
func (s *state) dropDamaged(h backlog.Handle) {
	e := s.messages.Entry(h)
	s.counts.Damaged++
	r := s.out.notices.Rare()
	r.Damaged = append(r.Damaged, e.Seq)
	if !s.messages.IsReady(h) {
		e.Marks |= backlog.Damaged
		return
	}
	s.expiry.Remove(h)
	s.Remove(h, store.Damaged)
}

// committed: what was handed over is durable, or lost.
func (s *state) committed(m appendDone) {
	if s.journal.Done(m.commit, m.err) {
		s.out.notices.Rare().Broken = m.err
	}
	if m.err == nil {
		s.pager.Written(s.memory(), m.commit)
	}
	m.commit.Recycle()
}
