package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/metrics"
	"candlemark/internal/store"
)

// A queue with forward-to moves its messages on as they come, as if it were their
// only consumer: they go the way of dead letters, but unchanged, and stay until
// every target has them. Only so many are on their way at a time; the others are
// ready as ever, and expire, overflow and are purged.

// hopsLimit is how often a message is moved on, over all queues.
const hopsLimit = 4

// CanForward reports whether a message that arrives at such a queue is moved on at once.
func (s *Set) CanForward(m *message.Message) bool {
	return s.Backlog.Ready() == 0 && s.DeadLetters.CanForward() && !s.over(1, int64(len(m.Body)))
}

// ForwardReady moves ready messages on, a turn's worth at a time, and reports whether there may be more.
func (s *Set) ForwardReady(now clock.Instant) (more bool) {
	for n := 0; s.DeadLetters.CanForward() && s.Backlog.Ready() > 0; n++ {
		h, ok := s.First(now)
		if !ok || !s.HasContent(h, now) {
			return false
		}
		if n == TurnLimit {
			return true
		}
		s.Expiry.Remove(h)
		s.Forward(h, false)
	}
	return false
}

// Forward hands a ready message on, with its content in memory and off the wheel. One that is only now, as a TTL of 0
// says, is moved on all the same.
func (s *Set) Forward(h backlog.Handle, now bool) {
	var r backlog.Record
	s.Backlog.Get(h, &r)
	s.Pager.Took(len(r.Body))
	if r.Overlay != nil && r.Overlay.Hops >= hopsLimit {
		s.EndReady(h, store.Exhausted)
		return
	}
	s.queue.Sent.Count(metrics.Forwarded)
	s.Backlog.Take(h)
	s.ensureDeadLetters().Forward(h, now)
}

// ForwardRecovered gives a delayed exchange what was released before a crash, and may not have
// got there (DLY-14). It reports whether there may be more.
func (s *Set) ForwardRecovered() (more bool) {
	for n := 0; s.Holds && s.Backlog.Ready() > 0; n++ {
		if n == TurnLimit {
			return true
		}
		h, _ := s.Backlog.First()
		s.Expiry.Remove(h)
		s.expire(h)
	}
	return false
}
