package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/policies"
)

// A queue with forward-to moves its messages on as they come, as if it were their
// only consumer: they go the way of dead letters, but unchanged, and stay until
// every target has them. Only so many are on their way at a time; the others are
// ready as ever, and expire, overflow and are purged.

// hopsLimit is how often a message is moved on, over all queues.
const hopsLimit = 4

// canForward reports whether a message that arrives at such a queue is moved on at once.
func (s *state) canForward(m *message.Message) bool {
	return s.messages.Ready() == 0 && s.deadLetters.CanForward() && !s.over(1, int64(len(m.Body)))
}

// forwardReady moves ready messages on, a turn's worth at a time.
func (s *state) forwardReady(now clock.Instant) (more bool) {
	for n := 0; s.deadLetters.CanForward() && s.messages.Ready() > 0; n++ {
		h, ok := s.first(now)
		if !ok || !s.hasContent(h, now) {
			return false
		}
		if n == turnLimit {
			return true
		}
		s.expiry.Remove(h)
		s.forward(h, false)
	}
	return false
}

// forward hands a ready message on, with its content in memory and off the wheel. One that is only now, as a TTL of 0 says, is moved on all the same.
func (s *state) forward(h backlog.Handle, now bool) {
	r := s.messages.Get(h)
	s.pager.Took(len(r.Body))
	if r.Overlay != nil && r.Overlay.Hops >= hopsLimit {
		s.endReady(h, tooManyHops)
		return
	}
	s.messages.Take(h)
	s.ensureDeadLetters().Forward(h, now)
}

// forwardToChanged follows a change of forward-to. A queue that moves its messages on is in
// use; its consumers get nothing.
func (s *state) forwardToChanged(before *policies.QueueSettings, now clock.Instant) {
	was, is := before.HasForward, s.settings.HasForward
	if was == is && before.ForwardTo == s.settings.ForwardTo {
		return
	}
	s.deadLetters.RetryNow(now)
	switch {
	case is && !was:
		s.lease.Hold()
	case was && !is:
		s.lease.Release(now.Ceil())
	}
	s.consumers.Pause(is)
}
