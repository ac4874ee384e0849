package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deadletters"
	"candlemark/internal/store"
)

// shouldDeadLetter reports whether messages that end for this reason are dead-lettered. The
// backlog of a queue whose lease ended is, if that is asked for, whatever becomes of
// messages that expire.
func (s *state) shouldDeadLetter(why store.Reason) bool {
	return s.settings.HasDLX && (why != expired || !s.settings.DropExpired || s.phase >= draining && s.deadLettersBacklog())
}

// endReady ends a ready message: it is dropped, or becomes a dead letter if there is an
// exchange to send it to. The caller has taken it off the wheel.
func (s *state) endReady(h backlog.Handle, why store.Reason) {
	if s.shouldDeadLetter(why) {
		s.messages.Take(h)
	}
	s.End(h, why)
}

// End implements deadletters.Owner.
func (s *state) End(h backlog.Handle, why store.Reason) {
	if s.shouldDeadLetter(why) {
		s.ensureDeadLetters().Add(h, why)
	} else {
		s.Drop(h, why)
	}
}

// Drop implements deadletters.Owner.
func (s *state) Drop(h backlog.Handle, why store.Reason) {
	s.out.notices.Dropped(why)
	s.Remove(h, why)
}

// Return implements deadletters.Owner.
func (s *state) Return(h backlog.Handle) {
	s.messages.Return(h)
	s.expiry.Add(h)
}

// Remove implements deadletters.Owner.
func (s *state) Remove(h backlog.Handle, why store.Reason) {
	s.journal.Remove(s.messages.Entry(h), why)
	s.messages.Remove(h)
}

// ensureDeadLetters makes room for dead letters: most queues have none, ever.
func (s *state) ensureDeadLetters() *deadletters.Set {
	if s.deadLetters == nil {
		s.deadLetters = deadletters.New(deadletters.Parts{
			Owner: s, Queue: s.queue, VHost: s.vhost, Self: s.self, Settings: &s.settings,
			Messages: &s.messages, Pager: &s.pager, Out: &s.out.Outbox,
		})
		if s.phase >= draining {
			s.deadLetters.End(s.phase == ended)
		}
	}
	return s.deadLetters
}
