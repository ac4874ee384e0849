package queue

import (
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// forwarding moves the messages of a queue with forward-to on as they arrive. The queue counts as used; its consumers get
// none.
type forwarding struct{ base }

// Judge forwards a message instead of keeping it, if no other is ready.
func (s forwarding) Judge(a *incoming) verdict {
	if a.dry {
		return pass
	}
	deadline, late, over := a.lifetime()
	if over || !s.messages.CanForward(a.m) {
		return pass
	}
	h := s.messages.Keep(a.m, deadline, a.now)
	written := s.messages.Backlog.Entry(h).Stored
	s.messages.Forward(h, late)
	return kept(written)
}

func (forwarding) Took(_ *incoming, v verdict) verdict    { return v }
func (s forwarding) Divert(now clock.Instant) (more bool) { return s.messages.ForwardReady(now) }

func (s forwarding) Settings(before *policies.QueueSettings, now clock.Instant) {
	settings := &s.messages.Settings
	was, is := before != nil && before.HasForward, settings.HasForward
	if was == is && (!is || before.ForwardTo == settings.ForwardTo) {
		return
	}
	s.messages.DeadLetters.RetryNow(now)
	switch {
	case is && !was:
		s.lease.Hold()
	case was && !is:
		s.lease.Release(now.Ceil(), leaseChanged)
	}
	s.consumers.Pause(is)
}

// forwards reports whether the messages of a queue go elsewhere instead of to its consumers.
func forwards(s *host) bool { return s.messages.Settings.HasForward }
