package queue

import (
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// full reports whether one more ready message would be above max-length or
// max-length-bytes, which count ready messages only (DL-12).
func (s *state) full() bool {
	n, b := s.settings.MaxLength, s.settings.MaxLengthBytes
	return n >= 0 && int64(s.messages.Ready()) >= n || b >= 0 && s.messages.ReadyBytes() >= b
}

// refuses reports whether the next publish is rejected (DL-10).
func (s *state) refuses() bool {
	return s.settings.Overflow != "" && s.settings.Overflow != "drop-head" && s.turn == nil && s.full()
}

// overflowed is what becomes of a refused publish: under reject-publish-dlx it
// is dead-lettered, else nothing.
func (s *state) overflowed(m *message.Message, now clock.Instant) {
	if s.settings.Overflow == "reject-publish-dlx" && s.settings.HasDLX {
		s.die(s.keep(m, store.Never, now), maxlen)
	}
}

// enforce drops from the head what is above the limits (DL-12), after a publish,
// a requeue or a policy change.
func (s *state) enforce(now clock.Instant) {
	n, b := s.settings.MaxLength, s.settings.MaxLengthBytes
	for n >= 0 && int64(s.messages.Ready()) > n || b >= 0 && s.messages.ReadyBytes() > b {
		h, ok := s.first(now)
		if !ok {
			return
		}
		s.die(h, maxlen)
	}
}
