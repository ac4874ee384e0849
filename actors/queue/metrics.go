package queue

import (
	"candlemark/internal/figures"
	"candlemark/internal/metrics"
)

// tell tells lists how the queue is, and adds to the sums of all queues what has changed in this turn.
func (q *queue) tell() {
	s := &q.state
	now := numbersOf(s)
	v := s.Figures(&now)
	v[figures.Timed] += int64(s.deliveries.Timeouts.Len())
	if at, ends := s.lease.Deadline(); ends && s.phase < draining {
		v[figures.LeaseEnds] = at + s.Skew
	}
	s.queue.Waits.Set(&v)
	if share := s.Late.Share; share != nil {
		s.Late.Flush()
		share.Tell(&q.told, &now)
	}
}

// forget takes back what the queue has told that it holds; what it has done stays in the sums.
func (q *queue) forget() {
	if share := q.state.Late.Share; share != nil {
		share.Forget(&q.told)
	}
	if was := q.state.queue; was != nil {
		was.Waits.Set(&figures.Values{})
	}
}

// match tells lists which policies apply.
func match(s *state) {
	if w := s.queue.Waits; w != nil {
		m := s.effective.Value()
		w.Match(m.user, m.operator)
	}
}

// numbersOf a queue are its share of the sums.
func numbersOf(s *state) metrics.Numbers {
	n := s.Numbers()
	n[metrics.Unacked], n[metrics.Consumers] = int64(s.consumers.Unacked()), int64(s.consumers.Len())
	if s.Settings.Expires > 0 && s.phase < draining {
		n[metrics.Leased] = 1
	}
	return n
}
