package messages

import (
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Over reports whether that many more ready messages and bytes of bodies would exceed max-length or max-length-bytes,
// which count only ready messages (DL-12) and messages retained by at-least-once dead-lettering (DL-30).
func (s *Messages) Over(messages, bytes int64) bool {
	n, b := s.Settings.MaxLength, s.Settings.MaxLengthBytes
	dead, deadBytes := s.DeadLetters.Retained()
	messages, bytes = messages+dead, bytes+deadBytes
	return n >= 0 && int64(s.Backlog.Ready())+messages > n || b >= 0 && s.Backlog.ReadyBytes()+bytes > b
}

// Rejects reports whether publishes over the limits are refused, rather than messages in the queue dropped.
func (s *Messages) Rejects() bool {
	return s.Settings.Overflow != "" && s.Settings.Overflow != "drop-head"
}

// Refuses reports whether publishes of that many messages and bytes of bodies have to be rejected (DL-10), even if a
// consumer waits: a message that exceeds the limit by itself is never accepted.
func (s *Messages) Refuses(messages int, bytes int64) bool {
	return messages > 0 && s.Rejects() && s.Over(int64(messages), bytes)
}

// DeadLettersFailed reports whether messages to which the action of a rule cannot be applied are dead-lettered (SBR-7).
func (s *Messages) DeadLettersFailed() bool {
	return s.Settings.DeadLetterFailedRules && s.Settings.HasDLX
}

// Unwanted handles a message that the queue does not keep: Overflowed, a refused publish, or Failed (SBR-7). It reports
// whether the settings ask for a dead letter, and whether the message was written to the journal.
func (s *Messages) Unwanted(m *message.Message, why store.Reason, now clock.Instant) (dead, stored bool) {
	asked := s.Settings.Overflow == "reject-publish-dlx"
	if why == store.Failed {
		asked = s.Settings.DeadLetterFailedRules
	}
	if !asked || !s.Settings.HasDLX {
		if asked || why == store.Failed {
			s.Notices.Dropped(why)
		}
		return false, false
	}
	h := s.Keep(m, store.Never, now)
	stored = s.Backlog.Entry(h).Stored
	s.EndReady(h, why)
	return true, stored
}

// Enforce drops messages from the head until the limits are met (DL-12), after a publish, a requeue or a policy
// change, up to a turn's limit. As in RabbitMQ the head is the first message of the highest priority.
func (s *Messages) Enforce(now clock.Instant) (more bool) {
	if s.Rejects() || !s.Over(0, 0) {
		return false
	}
	s.ExpireDue(now)
	for dropped := 0; s.Over(0, 0); dropped++ {
		if dropped == TurnLimit {
			return true
		}
		h, ok := s.First(now)
		if !ok {
			return false
		}
		s.Expiry.Remove(h)
		s.EndReady(h, store.Overflowed)
	}
	return false
}
