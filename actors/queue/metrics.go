package queue

import "candlemark/internal/metrics"

// tell adds to the sums of all queues what has changed in this turn.
func (q *queue) tell() {
	s := &q.state
	share := s.Late.Share
	if share == nil {
		return
	}
	s.Late.Flush()
	now := numbersOf(s)
	share.Tell(&q.told, &now)
}

// forget takes back what the queue has told that it holds; what it has done stays in the sums.
func (q *queue) forget() {
	if share := q.state.Late.Share; share != nil {
		share.Forget(&q.told)
	}
}

// numbersOf a queue are its share of the sums.
func numbersOf(s *state) metrics.Numbers {
	forwarding := s.DeadLetters.Counts()
	ready := s.Backlog.ReadyBytes() + forwarding.ForwardingBytes
	c := &s.Counts
	n := metrics.Numbers{
		metrics.Ready: int64(s.Backlog.Ready() + forwarding.Forwarding), metrics.ReadyBytes: ready,
		metrics.Unacked: int64(s.consumers.Unacked()), metrics.UnackedBytes: s.Backlog.Bytes() - ready,
		metrics.Paged: int64(s.Backlog.Paged()), metrics.PagedBytes: s.Backlog.PagedBytes(),
		metrics.Consumers: int64(s.consumers.Len()),
		metrics.Enqueued:  int64(c.Publish), metrics.Delivered: int64(c.Deliver), metrics.DeliveredNoAck: int64(c.DeliverNoAck),
		metrics.Got: int64(c.Get), metrics.GotNoAck: int64(c.GetNoAck), metrics.GotNothing: int64(c.GetEmpty),
		metrics.Acked: int64(c.Ack), metrics.Redelivered: int64(c.Redeliver), metrics.TimedOut: int64(c.TimedOut),
	}
	if x := s.Scheduled; x != nil {
		n[metrics.Scheduled] = int64(x.Len())
		n[metrics.Paged] += int64(x.Messages.Paged())
		n[metrics.PagedBytes] += x.Messages.PagedBytes()
	}
	if s.Settings.Expires > 0 && s.phase < draining {
		n[metrics.Leased] = 1
	}
	return n
}
