package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// Count sets the metrics of the messages in the backlog, except the number of unacked ones.
func (s *Messages) Count(n *metrics.Numbers) {
	c := &s.Counts
	n[metrics.Ready], n[metrics.ReadyBytes] = int64(s.Backlog.Ready()), s.Backlog.ReadyBytes()
	n[metrics.UnackedBytes] = s.Backlog.Bytes() - s.Backlog.ReadyBytes()
	n[metrics.Paged], n[metrics.PagedBytes] = int64(s.Backlog.Paged()), s.Backlog.PagedBytes()
	n[metrics.Enqueued], n[metrics.Delivered], n[metrics.DeliveredNoAck] = int64(c.Publish), int64(c.Deliver), int64(c.DeliverNoAck)
	n[metrics.Got], n[metrics.GotNoAck], n[metrics.GotNothing] = int64(c.Get), int64(c.GetNoAck), int64(c.GetEmpty)
	n[metrics.Acked], n[metrics.Redelivered], n[metrics.TimedOut], n[metrics.Settled] = int64(c.Ack), int64(c.Redeliver), int64(c.TimedOut), int64(c.Settled)
}

// Stats returns the statistics of the messages of a queue with metrics n.
func (s *Messages) Stats(n *metrics.Numbers) queuestats.Values {
	stored, bytes := s.Backlog.Stored()
	return queuestats.Values{
		queuestats.Running: 1, queuestats.Ready: n[metrics.Ready], queuestats.Unacked: n[metrics.Unacked], queuestats.ReadyBytes: n[metrics.ReadyBytes],
		queuestats.UnackedBytes: n[metrics.UnackedBytes], queuestats.Persistent: int64(stored), queuestats.PersistentBytes: bytes,
		queuestats.Scheduled: n[metrics.Scheduled], queuestats.Deferred: n[metrics.Deferred], queuestats.Expiring: int64(s.Expiry.Len()),
		queuestats.Consumers: n[metrics.Consumers], queuestats.Leased: n[metrics.Leased],
		queuestats.OldestReady: backlog.OldestReady(&s.Backlog),
	}
}
