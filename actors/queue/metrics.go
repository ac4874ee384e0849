package queue

import "candlemark/internal/measure/queuestats"

// publishFigures publishes the queue's figures for lists, adds this turn's changes to the metrics of all queues, and returns
// the figures.
func (q *queue) publishFigures() *figures {
	s := &q.state
	f := s.figures()
	s.queue.Stats.Set(&f.values)
	s.queue.Stats.TakeFailures(s.messages.DeadLettersFailed())
	if share := s.messages.Late.Share; share != nil {
		s.messages.Late.Flush()
		share.Report(&q.reported, f.values.Sums())
	}
	return f
}

// withdrawFigures takes the queue's current contents out of figures and metrics. Its counts of past events stay in
// the metrics.
func (q *queue) withdrawFigures() {
	if share := q.state.messages.Late.Share; share != nil {
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
		w.SetPolicies(m.User, m.Operator)
	}
}
