package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/queuestats"
)

// Count sets the figures of the messages in the backlog, except the number of unacked ones.
func (s *Messages) Count(v *queuestats.Values) {
	c := &s.Counts
	v[queuestats.Ready], v[queuestats.ReadyBytes] = int64(s.Backlog.Ready()), s.Backlog.ReadyBytes()
	v[queuestats.UnackedBytes] = s.Backlog.Bytes() - s.Backlog.ReadyBytes()
	v[queuestats.Paged], v[queuestats.PagedBytes] = int64(s.Backlog.Paged()), s.Backlog.PagedBytes()
	v[queuestats.Enqueued], v[queuestats.Delivered], v[queuestats.DeliveredNoAck] = int64(c.Publish), int64(c.Deliver), int64(c.DeliverNoAck)
	v[queuestats.Got], v[queuestats.GotNoAck], v[queuestats.GotNothing] = int64(c.Get), int64(c.GetNoAck), int64(c.GetEmpty)
	v[queuestats.Acked], v[queuestats.Redelivered] = int64(c.Ack), int64(c.Redeliver)
	v[queuestats.TimedOut], v[queuestats.Late], v[queuestats.Settled] = int64(c.TimedOut), int64(c.Late), int64(c.Settled)
	stored, bytes := s.Backlog.Stored()
	v[queuestats.Persistent], v[queuestats.PersistentBytes] = int64(stored), bytes
	v[queuestats.Expiring], v[queuestats.OldestReady] = int64(s.Expiry.Len()), backlog.OldestReady(&s.Backlog)
}
