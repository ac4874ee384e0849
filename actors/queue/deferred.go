package queue

import (
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
)

// deferring is the part with the deferred messages.
type deferring struct{ base }

func (s deferring) Next() (int64, bool)                   { return s.messages.Deferred.Next() }
func (s deferring) Advance(now clock.Instant) (more bool) { return s.messages.AdvanceDeferred(now) }
func (s deferring) Show(v *inspect.View)                  { v.Deferred = s.messages.Deferred }

func (s deferring) Figures(f *figures) {
	all := s.messages.Deferred
	f.waiting += all.Len()
	f.numbers[metrics.Deferred] = int64(all.Len())
	f.numbers[metrics.UnackedBytes] -= all.Bytes()
	if f.info != nil {
		f.info.Deferred, f.info.Postponed = all.Len(), all.Postponed()
	}
}

// Handle takes ReceiveDeferred, which counts as a use of the queue, like basic.get.
func (s deferring) Handle(received any, now clock.Instant) (taken bool) {
	m, taken := received.(*mail.ReceiveDeferred)
	if !taken {
		return false
	}
	if err := access(s.queue, s.vhost, m.Connection); err != nil {
		s.out.Send(m.ReplyTo, &mail.ReceiveDeferredReply{Reply: m.Done(err), Queue: s.self})
		return true
	}
	s.lease.Renew(now.Ceil(), expiry.LeaseGot)
	s.deliveries.Receive(m, now)
	return true
}
