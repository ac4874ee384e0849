package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/messages"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
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
	if over || !s.admits(a.m) {
		return pass
	}
	h := s.messages.Keep(a.m, deadline, a.now)
	written := s.messages.Backlog.Entry(h).Stored
	s.messages.Forward(h, late)
	return kept(written)
}

func (forwarding) Took(_ *incoming, v verdict) verdict { return v }

// Divert forwards ready messages, up to a turn's limit, and reports whether more may be left.
func (s forwarding) Divert(now clock.Instant) (more bool) {
	for n := 0; s.messages.DeadLetters.CanForward() && s.messages.Backlog.Ready() > 0; n++ {
		h, ok := s.messages.First(now)
		if !ok || !s.messages.HasContent(h, now) {
			return false
		}
		if n == messages.TurnLimit {
			return true
		}
		s.messages.Expiry.Remove(h)
		s.messages.Forward(h, false)
	}
	return false
}

// admits reports whether a message that arrives now is forwarded at once.
func (s forwarding) admits(m *message.Message) bool {
	return s.messages.Backlog.Ready() == 0 && s.messages.DeadLetters.CanForward() && !s.messages.Over(1, int64(len(m.Body)))
}

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
		s.lease.Release(now.Ceil(), expiry.LeaseChanged)
	}
	s.consumers.Pause(consumers.Forwarding, is)
}

// forwards reports whether the messages of a queue go elsewhere instead of to its consumers.
func forwards(s *host) bool { return s.messages.Settings.HasForward }
