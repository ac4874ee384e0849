package queue

import (
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// over reports whether so many more ready messages and bytes of bodies are above
// max-length or max-length-bytes, which count ready messages only (DL-12), and
// those that at-least-once dead-lettering retains (DL-30).
func (s *state) over(messages, bytes int64) bool {
	n, b := s.settings.MaxLength, s.settings.MaxLengthBytes
	dead, deadBytes := s.deadLetters.Retained()
	messages, bytes = messages+dead, bytes+deadBytes
	return n >= 0 && int64(s.messages.Ready())+messages > n || b >= 0 && s.messages.ReadyBytes()+bytes > b
}

// rejects reports whether what is over the limits is refused, and nothing that
// is in the queue is dropped.
func (s *state) rejects() bool {
	return s.settings.Overflow != "" && s.settings.Overflow != "drop-head"
}

// refuses reports whether a publish is rejected (DL-10), whoever waits for it: a
// message that alone is over the limit never enters.
func (s *state) refuses(m *message.Message) bool {
	return s.rejects() && s.over(1, int64(len(m.Body)))
}

// overflowed handles a refused publish: under reject-publish-dlx it
// is dead-lettered, which it reports, else nothing.
func (s *state) overflowed(m *message.Message, now clock.Instant) bool {
	if s.settings.Overflow != "reject-publish-dlx" {
		return false
	}
	if !s.settings.HasDLX {
		s.out.notices.Dropped(maxlen)
		return false
	}
	s.endReady(s.keep(m, store.Never, now), maxlen)
	return true
}

// enforce drops from the head what is above the limits (DL-12), after a publish,
// a requeue or a policy change, a turn's worth at a time. As in RabbitMQ the head
// is the first message of the highest priority.
func (s *state) enforce(now clock.Instant) (more bool) {
	if s.rejects() || !s.over(0, 0) {
		return false
	}
	s.expireDue(now)
	for dropped := 0; s.over(0, 0); dropped++ {
		if dropped == turnLimit {
			return true
		}
		h, ok := s.first(now)
		if !ok {
			return false
		}
		s.expiry.Remove(h)
		s.endReady(h, maxlen)
	}
	return false
}
