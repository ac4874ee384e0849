package channel

import (
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// requeued handles deliveries that a queue has requeued because they were not settled in time (ADR 10) or on request.
// Deliveries not written yet are dropped; the tags of the others stay valid but do not count towards any limit, and the
// queue ignores their settlement.
func (s *state) requeued(m *mail.DeliveriesRequeued) {
	p := s.queues.Peers.Find(m.Queue)
	if p == nil {
		return
	}
	unacked.LogRequeued(&s.cfg.Log, m, "acknowledged")
	s.output.Withdraw(m)
	s.queues.Unacked.Return(&p.Queue, m)
	if s.tx != nil {
		s.tx.Return(&s.queues.Unacked, &p.Queue, m)
	}
	if late := s.queues.Unacked.Late(); late > unacked.LateLimit {
		s.fail(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"%d deliveries on channel %d were not acknowledged in time", late, s.cfg.ID), nil)
		return
	}
	s.queues.Unacked.Limit.Allow()
}
