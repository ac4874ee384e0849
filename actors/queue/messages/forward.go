package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// A queue with forward-to forwards its messages as they arrive, as if it were their only consumer. They take the path
// of dead letters, but unchanged, and stay until every target has them. A limited number is under way at a time; the
// others are ready as usual, and can expire, overflow or be purged.

// hopsLimit is how often a message is forwarded, over all queues.
const hopsLimit = 4

// CanForward reports whether a message that arrives now is forwarded at once.
func (s *Messages) CanForward(m *message.Message) bool {
	return s.Backlog.Ready() == 0 && s.DeadLetters.CanForward() && !s.over(1, int64(len(m.Body)))
}

// ForwardReady forwards ready messages, up to a turn's limit, and reports whether more may be left.
func (s *Messages) ForwardReady(now clock.Instant) (more bool) {
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

// Forward forwards a ready message, whose content is in memory and which is off the wheel. now: forward it although its
// TTL is 0.
func (s *Messages) Forward(h backlog.Handle, now bool) {
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

// ForwardRecovered sends a delayed exchange the messages that were released before a crash and may not have arrived
// (DLY-14). It reports whether more may be left.
func (s *Messages) ForwardRecovered() (more bool) {
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
