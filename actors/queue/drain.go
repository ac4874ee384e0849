package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// deadLettersBacklog reports whether the messages of an expired queue are dead-lettered
// instead of discarded (LEASE-13).
func (s *state) deadLettersBacklog() bool {
	return s.deletion.cause == leaseRanOut && s.Settings.ExpiresDeadLettersBacklog && s.Settings.HasDLX
}

// handleLate handles mail that arrives after the vhost has forgotten the queue. Publishes count as routed (PRO-2): they
// are discarded, or dead-lettered after the backlog.
func (s *state) handleLate(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.DeadLetterReply:
		s.DeadLetters.Answered(m, now)
	case appendDone:
		s.Written(m.commit, m.err)
	case loaded:
		s.contentsRead(m, now)
	case *mail.Enqueue:
		for i := range m.Messages {
			if x := &m.Messages[i]; s.deadLettersBacklog() {
				s.EndReady(s.Keep(x, s.Expiry.Deadline(x.TTL, now), now), store.Expired)
			}
		}
		answerGone(&s.out.Posts, m)
	case mail.Answerable:
		answerGone(&s.out.Posts, m)
	}
}

// answerGone answers mail that was sent to a deleted queue.
func answerGone(out *mail.Posts, m mail.Answerable) {
	if to, reply := m.Answer(mail.Gone); to != nil {
		out.Send(to, reply)
	}
}

// drain ends the queue once its last dead letter is settled. A backlog that is to be dead-lettered takes several
// turns.
func (s *state) drain(now clock.Instant) (more bool) {
	if s.deadLettersBacklog() {
		more = s.DeadLetterBacklog()
	}
	s.DeadLetters.RetryNow(now) // one last attempt
	s.DeadLetters.Retry(now, s.Skew)
	more = s.DeadLetters.Flush(now, s.Skew, int(s.turnLimit)) || more
	if s.DeadLetters.Counts().Len > 0 || more {
		return more
	}
	s.phase.becomeEnded()
	s.Retire()
	return false
}
