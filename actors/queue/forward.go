package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/policies"
)

// A queue with forward-to moves its messages on as they come, as if it were their
// only consumer: they go the way of dead letters, but unchanged, and stay until
// every target has them. Only so many are on their way at a time; the others are
// ready as ever, and expire, overflow and are purged.

// hopsLimit is how often a message is moved on, over all queues.
const hopsLimit = 4

// forwardLimit is how many messages are on their way, or wait for another attempt: dead
// letters do not stand behind them.
const forwardLimit = deadLetterLimit / 2

// canForward reports whether a message that arrives at such a queue is moved on at once.
func (s *state) canForward(m *message.Message) bool {
	return s.messages.Ready() == 0 && s.deadLetters.forwarding < forwardLimit && !s.over(1, int64(len(m.Body)))
}

// forwardReady moves ready messages on, a turn's worth at a time.
func (s *state) forwardReady(now clock.Instant) (more bool) {
	for n := 0; s.deadLetters.forwarding < forwardLimit && s.messages.Ready() > 0; n++ {
		h, ok := s.first(now)
		if !ok || !s.hasContent(h, now) {
			return false
		}
		if n == turnLimit {
			return true
		}
		s.wheel.Remove(h)
		s.forward(h, false)
	}
	return false
}

// forward hands a ready message on, with its content in memory and off the wheel. One that is only now, as a TTL of 0 says, is moved on all the same.
func (s *state) forward(h backlog.Handle, now bool) {
	r := s.messages.Get(h)
	s.paging.runway -= int64(len(r.Body)) + messageOverhead
	if r.Overlay != nil && r.Overlay.Hops >= hopsLimit {
		s.endReady(h, tooManyHops)
		return
	}
	s.messages.Take(h)
	s.deadLetters.forwarding++
	s.deadLetters.forwardingBytes += s.messages.Size(h)
	s.deadLetters.bytes += s.messages.Size(h)
	s.deadLetters.all.Append(deadLetter{message: h, reason: forwarded, now: now})
}

// cancelForward takes a message back that is not to be moved on any more: it is ready again,
// or expires when its deadline has come.
// It reports whether that is so.
func (s *state) cancelForward(id uint64, x deadLetter, now clock.Instant) bool {
	late := s.messages.Deadline(x.message) <= now.Floor() && (!x.now || x.tries > 0)
	if s.settings.HasForward && !late {
		return false
	}
	s.deadLetters.all.Take(id)
	s.uncountDeadLetter(x)
	switch {
	case late:
		s.end(x.message, expired)
	case s.phase >= draining: // as all that is ready then
		s.remove(x.message, store.Purged)
	default:
		s.messages.Return(x.message)
		s.schedule(x.message)
	}
	return true
}

// remainingTTL is the TTL with which a message moves on: its deadline stays.
func (s *state) remainingTTL(h backlog.Handle, own int64, now clock.Instant) int64 {
	if at := s.messages.Deadline(h); at != store.Never {
		return max(at-now.Ceil(), 0)
	}
	return own
}

// forwardToChanged follows a change of forward-to. A queue that moves its messages on is in
// use; its consumers get nothing.
func (s *state) forwardToChanged(before *policies.QueueSettings, now clock.Instant) {
	was, is := before.HasForward, s.settings.HasForward
	if was == is && before.ForwardTo == s.settings.ForwardTo {
		return
	}
	s.deadLetters.retries.retryNow(now)
	switch {
	case is && !was:
		s.lease.Hold()
	case was && !is:
		s.lease.Release(now.Ceil())
	}
	s.consumers.Pause(is)
}

// newForwardMail is the mail of a queue that moves its messages on.
func (s *state) newForwardMail() *mail.DeadLetter {
	return &mail.DeadLetter{
		From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: "forwarded", Forward: true,
		Exchange: s.settings.ForwardTo, Epoch: s.deadLetters.epoch,
	}
}
