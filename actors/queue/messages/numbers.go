package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// Numbers returns the metrics of the messages, except the number of unacked ones.
func (s *Messages) Numbers() metrics.Numbers {
	forwarding := s.DeadLetters.Counts()
	ready := s.Backlog.ReadyBytes() + forwarding.ForwardingBytes
	c := &s.Counts
	n := metrics.Numbers{
		metrics.Ready: int64(s.Backlog.Ready() + forwarding.Forwarding), metrics.ReadyBytes: ready,
		metrics.UnackedBytes: s.Backlog.Bytes() - ready - s.Deferred.Bytes(), metrics.Deferred: int64(s.Deferred.Len()),
		metrics.Paged: int64(s.Backlog.Paged()), metrics.PagedBytes: s.Backlog.PagedBytes(),
		metrics.Enqueued: int64(c.Publish), metrics.Delivered: int64(c.Deliver), metrics.DeliveredNoAck: int64(c.DeliverNoAck),
		metrics.Got: int64(c.Get), metrics.GotNoAck: int64(c.GetNoAck), metrics.GotNothing: int64(c.GetEmpty),
		metrics.Acked: int64(c.Ack), metrics.Redelivered: int64(c.Redeliver), metrics.TimedOut: int64(c.TimedOut),
	}
	if x := s.Scheduled; x != nil {
		n[metrics.Scheduled] = int64(x.Len())
		n[metrics.Paged] += int64(x.Messages.Paged())
		n[metrics.PagedBytes] += x.Messages.PagedBytes()
	}
	return n
}

// Stats returns the statistics of the messages of a queue with metrics n.
func (s *Messages) Stats(n *metrics.Numbers) queuestats.Values {
	stored, bytes := s.Backlog.Stored()
	return queuestats.Values{
		queuestats.Running: 1, queuestats.Ready: n[metrics.Ready], queuestats.Unacked: n[metrics.Unacked], queuestats.ReadyBytes: n[metrics.ReadyBytes],
		queuestats.UnackedBytes: n[metrics.UnackedBytes], queuestats.Persistent: int64(stored), queuestats.PersistentBytes: bytes,
		queuestats.Memory: s.Taken(), queuestats.Scheduled: n[metrics.Scheduled], queuestats.Deferred: n[metrics.Deferred], queuestats.Timed: n[metrics.Scheduled], queuestats.Expiring: int64(s.Expiry.Len()),
		queuestats.Consumers: n[metrics.Consumers], queuestats.Leased: n[metrics.Leased],
		queuestats.OldestReady: backlog.OldestReady(&s.Backlog),
	}
}

// Taken returns the memory used by all messages, scheduled ones included, by the ids of its duplicate detection window
// and by its sessions with their states, in bytes.
func (s *Messages) Taken() int64 {
	n := s.Backlog.Memory() + s.Duplicates.Bytes() + s.Sessions.Bytes()
	if s.Scheduled != nil {
		n += s.Scheduled.Memory()
	}
	return n
}
