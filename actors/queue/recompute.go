package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/store"
	"candlemark/policies"
)

// startRecompute begins a sweep over the messages if the settings before count for
// them no longer: their deadlines change (TTL-25), or those that strict expiry
// kept off the wheel go on it.
func (s *state) startRecompute(before *policies.QueueSettings) {
	now := &s.settings
	ttl := now.RetroactiveTTL && (!before.RetroactiveTTL || before.MessageTTL != now.MessageTTL)
	if ttl || before.StrictExpiry && !now.StrictExpiry {
		s.recomputed = 1
	}
}

// recomputeDeadlines goes on with a sweep, a turn's worth at a time.
func (s *state) recomputeDeadlines() (more bool) {
	if s.recomputed == 0 {
		return false
	}
	s.recomputed = s.messages.Sweep(s.recomputed, turnLimit, func(h backlog.Handle) {
		ready := s.messages.IsReady(h)
		if ready {
			s.wheel.Remove(h)
		}
		if s.settings.RetroactiveTTL {
			enqueued, own := s.messages.Times(h)
			s.messages.Entry(h).Deadline = store.After(enqueued, s.ttl(own))
		}
		if ready {
			s.schedule(h)
		}
	})
	return s.recomputed != 0
}
