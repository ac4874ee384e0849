package queue

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// deadlineOf is fixed at the instant of enqueue (TTL-9): rounded up, so that it
// is never early, except that a TTL of 0 is due at once. That of a message that a
// delayed exchange holds begins in the queues that it goes to (DLY-4).
func (s *state) deadlineOf(m *message.Message, now clock.Instant) int64 {
	ttl := s.ttl(m.TTL)
	if ttl == 0 {
		return now.Floor()
	}
	return store.After(now.Ceil(), ttl)
}

// ttl is the lower of the message's own and the queue's, in ms; negative for
// none. On quorum queues 0 is 1 (TTL-23).
func (s *state) ttl(own int64) int64 {
	if q := s.settings.MessageTTL; q >= 0 && (own < 0 || q < own) {
		own = q
	}
	if own == 0 && s.quorum {
		return 1
	}
	return own
}

// schedule puts a ready message with a deadline on the wheel. In strict mode the
// wheel stands still.
func (s *state) schedule(h backlog.Handle) {
	if !s.settings.StrictExpiry {
		s.wheel.Add(h)
	}
}

// nextExpiry is when expireDue is to be called, in wall ms.
func (s *state) nextExpiry() (int64, bool) {
	if !s.settings.StrictExpiry {
		return s.wheel.Next()
	}
	h, ok := s.messages.First()
	if !ok || s.messages.Deadline(h) == store.Never {
		return 0, false
	}
	return s.messages.Deadline(h), true
}

// expireDue ends the messages past their deadline, wherever they stand (TTL-30),
// a turn's worth at a time (TTL-33). It reports whether there may be more.
func (s *state) expireDue(now clock.Instant) (more bool) {
	if s.settings.StrictExpiry {
		return s.expireHead(now)
	}
	if more = s.wheel.Advance(now.Floor(), turnLimit, func(h uint32) { s.due = append(s.due, h) }); more {
		s.unfinished = true
	}
	if len(s.due) == 0 {
		return more
	}
	s.sortDue()
	for _, h := range s.due {
		s.endReady(h, expired)
	}
	if s.due = s.due[:0]; cap(s.due) > 64 {
		s.due = nil
	}
	return more
}

// sortDue restores queue order among equal deadlines (TTL-31): a message that
// came back is on the wheel behind those that stayed. Mostly there is nothing to
// do.
func (s *state) sortDue() {
	order := func(a, b backlog.Handle) int {
		x, y := s.messages.Entry(a), s.messages.Entry(b)
		if x.Deadline != y.Deadline {
			return cmp.Compare(x.Deadline, y.Deadline)
		}
		return cmp.Compare(x.Seq, y.Seq)
	}
	if !slices.IsSortedFunc(s.due, order) {
		slices.SortFunc(s.due, order)
	}
}

// expireHead is strict mode, as in RabbitMQ: messages expire only when they are
// the first of the highest priority that has any (TTL-18, TTL-19).
func (s *state) expireHead(now clock.Instant) (more bool) {
	for range turnLimit {
		h, ok := s.messages.First()
		if !ok || s.messages.Deadline(h) > now.Floor() {
			return false
		}
		s.wheel.Remove(h)
		s.endReady(h, expired)
	}
	s.unfinished = true
	return true
}

// first is the first ready message that is not past its deadline. A turn's worth of expired ones may hide it: then it is not ok, and
// another turn follows.
func (s *state) first(now clock.Instant) (backlog.Handle, bool) {
	for range turnLimit {
		h, ok := s.messages.First()
		if !ok {
			return 0, false
		}
		if s.messages.Deadline(h) > now.Floor() {
			return h, true
		}
		s.wheel.Remove(h)
		s.endReady(h, expired)
	}
	s.unfinished = true
	return 0, false
}
