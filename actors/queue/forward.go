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

// movingLimit is how many messages are on their way, or wait for another attempt: dead
// letters do not stand behind them.
const movingLimit = dyingLimit / 2

// moves reports whether a message that arrives at such a queue is moved on at once.
func (s *state) moves(m *message.Message) bool {
	return s.messages.Ready() == 0 && s.dying.moving < movingLimit && !s.over(1, int64(len(m.Body)))
}

// moveOn moves ready messages on, a turn's worth at a time.
func (s *state) moveOn(now clock.Instant) {
	if s.phase != live {
		return
	}
	for n := 0; s.dying.moving < movingLimit && s.messages.Ready() > 0; n++ {
		h, ok := s.first(now)
		if !ok || !s.present(h, now) {
			return
		}
		if n == turnLimit {
			s.out.again = true
			return
		}
		s.wheel.Remove(h)
		s.forward(h, false)
	}
}

// forward takes a ready message, with its content in memory and off the wheel, on its
// way. One that is only now, as a TTL of 0 says, is moved on all the same.
func (s *state) forward(h backlog.Handle, now bool) {
	r := s.messages.Get(h)
	s.paging.runway -= int64(len(r.Body)) + messageOverhead
	if r.Overlay != nil && r.Overlay.Hops >= hopsLimit {
		s.die(h, exhausted)
		return
	}
	s.messages.Take(h)
	s.dying.moving++
	s.dying.movingBytes += s.messages.Size(h)
	s.dying.bytes += s.messages.Size(h)
	s.dying.all.Append(dead{message: h, why: forwarded, now: now})
}

// strays sees to a message whose way the queue has given up meanwhile: it is ready
// again when it is not to be moved on any more, and dies when its deadline has come.
// It reports whether that is so.
func (s *state) strays(id uint64, x dead, now clock.Instant) bool {
	late := s.messages.Deadline(x.message) <= now.Floor() && (!x.now || x.tries > 0)
	if s.settings.HasForward && !late {
		return false
	}
	s.dying.all.Take(id)
	s.unburden(x)
	switch {
	case late:
		s.bringOut(x.message, expired)
	case s.phase >= leaving: // as all that is ready then
		s.remove(x.message, store.Purged)
	default:
		s.messages.Return(x.message)
		s.schedule(x.message)
	}
	return true
}

// remaining is the TTL with which a message moves on: its deadline stays.
func (s *state) remaining(h backlog.Handle, own int64, now clock.Instant) int64 {
	if at := s.messages.Deadline(h); at != store.Never {
		return max(at-now.Ceil(), 0)
	}
	return own
}

// redirect follows a change of forward-to. A queue that moves its messages on is in
// use; its consumers get nothing.
func (s *state) redirect(before *policies.QueueSettings, now clock.Instant) {
	was, is := before.HasForward, s.settings.HasForward
	if was == is && before.ForwardTo == s.settings.ForwardTo {
		return
	}
	s.dying.retries.goesAgain(now)
	switch {
	case is && !was:
		s.lease.Hold()
	case was && !is:
		s.lease.Release(now.Ceil())
	}
	for _, h := range s.holders {
		s.disallow(h, 0)
		for _, c := range h.consumers {
			s.refresh(c)
		}
	}
}

// forwarding are the letters of a queue that moves its messages on.
func (s *state) forwarding() *mail.DeadLetter {
	return &mail.DeadLetter{
		From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: "forwarded", Forward: true,
		Exchange: s.settings.ForwardTo, Round: s.dying.round,
	}
}
