package queue

import (
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// publishFigures publishes the queue's figures for lists, and adds this turn's changes to the metrics of all queues.
func (q *queue) publishFigures() {
	s := &q.state
	now := numbersOf(s)
	v := s.Stats(&now)
	v[queuestats.Timed] += int64(s.deliveries.Timeouts.Len())
	if at, ends := s.lease.Deadline(); ends && s.phase < ending {
		v[queuestats.LeaseEnds] = at
	}
	s.queue.Stats.Set(&v)
	s.queue.Stats.TakeFailures(s.Settings.DeadLetterFailedRules && s.Settings.HasDLX)
	if share := s.Late.Share; share != nil {
		s.Late.Flush()
		share.Report(&q.reported, &now)
	}
}

// withdrawFigures takes the queue's current contents out of figures and metrics. Its counts of past events stay in
// the metrics.
func (q *queue) withdrawFigures() {
	if share := q.state.Late.Share; share != nil {
		share.Forget(&q.reported)
	}
	if was := q.state.queue; was != nil {
		was.Stats.Set(&queuestats.Values{})
	}
}

// publishPolicies publishes, for lists, which policies apply.
func publishPolicies(s *state) {
	if w := s.queue.Stats; w != nil {
		m := s.effective.Value()
		w.SetPolicies(m.user, m.operator)
	}
}

// numbersOf returns the queue's share of the metrics.
func numbersOf(s *state) metrics.Numbers {
	n := s.Numbers()
	n[metrics.Unacked], n[metrics.Consumers] = int64(s.consumers.Unacked()), int64(s.consumers.Len())
	if s.phase == ending { // as in describe
		letters := s.DeadLetters.Counts()
		n[metrics.Ready] += int64(letters.Len - letters.Forwarding)
		n[metrics.ReadyBytes], n[metrics.UnackedBytes] = n[metrics.ReadyBytes]+n[metrics.UnackedBytes], 0
	}
	n[metrics.Lost] = int64(s.farewell.gone)
	if s.Settings.Expires > 0 && s.phase < ending {
		n[metrics.Leased] = 1
	}
	return n
}
