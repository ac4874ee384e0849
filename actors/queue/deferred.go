package queue

import (
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
)

// deferring is the part with the deferred messages.
type deferring struct{ base }

func (s deferring) Next() (int64, bool)                   { return s.messages.Deferred.Next() }
func (s deferring) Advance(now clock.Instant) (more bool) { return s.messages.AdvanceDeferred(now) }
func (s deferring) Show(v *inspect.View)                  { v.Deferred = s.messages.Deferred }

func (s deferring) Figures(f *figures) {
	all := s.messages.Deferred
	f.waiting += all.Len()
	f.values[queuestats.Deferred], f.values[queuestats.Postponed] = int64(all.Len()), int64(all.Postponed())
	f.values[queuestats.UnackedBytes] -= all.Bytes()
}

// Handle takes ReceiveDeferred, which counts as a use of the queue, like basic.get.
func (s deferring) Handle(received any, now clock.Instant) (taken bool) {
	m, taken := received.(*mail.ReceiveDeferred)
	if !taken {
		return false
	}
	if err := mail.Locked(s.queue, m.Connection, s.vhost.Name); err != nil {
		s.out.Send(m.ReplyTo, &mail.ReceiveDeferredReply{Reply: m.Done(err), Queue: s.self})
		return true
	}
	s.lease.Renew(now.Ceil(), expiry.LeaseGot)
	s.deliveries.Receive(m, now)
	return true
}
