package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
)

// deadLettersBacklog reports whether the messages of an expired queue are dead-lettered
// instead of discarded (LEASE-13).
func (s *state) deadLettersBacklog() bool {
	return s.deletion.cause == leaseRanOut && s.settings.ExpiresDeadLettersBacklog && s.settings.HasDLX
}

// handleLate takes mail that a forgotten queue still gets. Publishes count as routed
// (PRO-2): they are discarded, or follow the backlog.
func (s *state) handleLate(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.DeadLetterReply:
		s.deadLetters.Answered(m, now)
	case appendDone:
		s.committed(m)
	case loaded:
		s.contentsRead(m, now)
	case *mail.Enqueue:
		if s.deadLettersBacklog() {
			s.deadLetterLate(m, now)
			break
		}
		s.answer(m)
	case mail.Answerable:
		s.answer(m)
	}
}

func (s *state) answer(m mail.Answerable) {
	if to, reply := m.Answer(mail.Gone); to != nil {
		s.send(to, reply)
	}
}

// deadLetterLate dead-letters a batch that came too late.
func (s *state) deadLetterLate(e *mail.Enqueue, now clock.Instant) {
	for i := range e.Messages {
		m := &e.Messages[i]
		s.endReady(s.keep(m, s.expiry.Deadline(m.TTL, now), now), expired)
	}
	s.answer(e)
}

// drain ends the queue when its last dead letter is taken care of. A backlog that is
// to be dead-lettered is so a turn's worth at a time.
func (s *state) drain(now clock.Instant) (more bool) {
	if s.deadLettersBacklog() {
		for range turnLimit {
			h, ok := s.messages.First()
			if !ok {
				if h, _, ok = s.scheduled.First(); !ok {
					break
				}
				h = s.scheduled.Move(h, &s.messages, &s.expiry, &s.journal)
			}
			s.expiry.Remove(h)
			s.endReady(h, expired)
		}
		more = s.messages.Ready() > 0 || s.scheduled.Len() > 0
	}
	s.deadLetters.RetryNow(now) // for the last time
	s.deadLetters.Retry(now, s.skew)
	more = s.deadLetters.Flush(now, s.skew, int(s.turnMost)) || more
	if s.deadLetters.Counts().Len > 0 || more {
		return more
	}
	s.phase.becomeEnded()
	s.deadLetters.End(true)
	s.journal.Retire()
	return false
}
