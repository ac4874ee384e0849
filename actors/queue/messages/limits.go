package messages

import (
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/ruleaction"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// over reports whether that many more ready messages and bytes of bodies would exceed max-length or max-length-bytes,
// which count only ready messages (DL-12) and messages retained by at-least-once dead-lettering (DL-30).
func (s *Messages) over(messages, bytes int64) bool {
	n, b := s.Settings.MaxLength, s.Settings.MaxLengthBytes
	dead, deadBytes := s.DeadLetters.Retained()
	messages, bytes = messages+dead, bytes+deadBytes
	return n >= 0 && int64(s.Backlog.Ready())+messages > n || b >= 0 && s.Backlog.ReadyBytes()+bytes > b
}

// rejects reports whether publishes over the limits are refused, rather than messages in the queue dropped.
func (s *Messages) rejects() bool {
	return s.Settings.Overflow != "" && s.Settings.Overflow != "drop-head"
}

// Refuses reports whether publishes of that many messages and bytes of bodies have to be rejected (DL-10), even if a
// consumer waits: a message that exceeds the limit by itself is never accepted.
func (s *Messages) Refuses(messages int, bytes int64) bool {
	return messages > 0 && s.rejects() && s.over(int64(messages), bytes)
}

// Unfit returns why a message, or a copy of it by an action, is not valid for the queue.
func Unfit(by *filter.Action) error {
	if by != nil {
		return mail.ErrCopy
	}
	return mail.ErrSessionNeeded
}

// TakesFailed reports whether a queue takes a message to which an action cannot be applied: to dead-letter it, or to
// drop it if the rule had Failed before (SBR-7).
func TakesFailed(of *policies.QueueSettings, by *filter.Action) bool {
	return by.Failed || of.DeadLetterFailedRules && of.HasDLX
}

// RefusesAll reports whether a list of messages (if by is not nil, of copies made by it), to be taken all or none, has
// to be refused (DL-10), and possibly why. If they exceed the limits, it calls Unwanted for each of them.
func RefusesAll(s *Messages, list []message.Message, by *filter.Action, now clock.Instant) (refused bool, why error) {
	var come []message.Message
	var bytes int64
	reader, ids := s.Reader(), map[uint64]bool{}
	var scanned content.Scanned
	for _, m := range list {
		scanned.Next()
		if s.Settings.DuplicateWindow > 0 {
			id, is, _ := Duplicate(s, &m, &scanned, by, now)
			if is || ids[id] {
				continue
			}
			ids[id] = id != 0
		}
		made := by == nil || ruleaction.Apply(by, &m)
		switch {
		case !made && !TakesFailed(&s.Settings, by), s.Sessions != nil && !sessions.Names(scanned.Of(m.Header)):
			return true, Unfit(by)
		case s.Journal.Err() != nil && s.Journal.Stores(&m):
			return true, nil
		case !made: // dead-lettered
		case reader.Looks() && reader.Times(&m, scanned.Of(m.Header), now).Due.At > now.Floor(): // scheduled messages are not limited
		default:
			come = append(come, m)
			bytes += int64(len(m.Body))
		}
	}
	if !s.Refuses(len(come), bytes) {
		return false, nil
	}
	for i := range come {
		s.Unwanted(&come[i], store.Overflowed, now)
	}
	return true, nil
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
	if s.rejects() || !s.over(0, 0) {
		return false
	}
	s.ExpireDue(now)
	for dropped := 0; s.over(0, 0); dropped++ {
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
