package channel

import (
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// lateLimit is how many requeued deliveries a channel may leave unsettled: their tags stay valid, so a client that
// never settles would use ever more memory.
const lateLimit = 100_000

// requeued handles deliveries that a queue has requeued because they were not settled in time (ADR 10) or on request.
// Deliveries not written yet are dropped; the tags of the others stay valid but do not count towards any limit, and the
// queue ignores their settlement.
func (s *state) requeued(m *mail.DeliveriesRequeued) {
	p := s.peers.Find(m.Queue)
	if p == nil {
		return
	}
	if !m.Asked { // requests are logged elsewhere
		s.cfg.Log.Warn().Str("queue", m.Name).Any("deliveries", m.Numbers).
			Msg("deliveries were not acknowledged in time and were requeued")
	}
	s.output.Withdraw(m)
	s.unacked.Return(&p.Queue, m)
	if s.tx != nil {
		s.tx.Return(&s.unacked, &p.Queue, m)
	}
	if late := s.unacked.Late(); late > lateLimit {
		s.fail(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"%d deliveries on channel %d were not acknowledged in time", late, s.cfg.ID), nil)
		return
	}
	s.unacked.Limit.Allow()
}
