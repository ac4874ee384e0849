package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// lateLimit is how many deliveries that went back a channel may leave unsettled:
// their tags stay valid, and a client that never settles anything is to end some
// time.
const lateLimit = 100_000

// returned: a queue took deliveries back because nobody settled them in time (ADR
// 10), or because somebody asked it to. What was not written yet is not written; the tags of the others stay
// valid, count for no limit, and settling them is left to the queue to ignore.
func (s *state) returned(m *mail.DeliveriesReturned) {
	p := s.peers.Find(m.Queue)
	if p == nil {
		return
	}
	if !m.Asked { // who asked is on record
		s.cfg.Log.Warn().Str("queue", m.Name).Any("deliveries", m.Numbers).
			Msg("deliveries were not acknowledged in time and went back to their queue")
	}
	s.output.Withdraw(m)
	s.unacked.Return(&p.Queue, m)
	if s.tx != nil {
		s.tx.Return(&s.unacked, &p.Queue, m)
	}
	if late := s.unacked.Late(); late > lateLimit {
		s.fail(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"%d deliveries on channel %d were never acknowledged", late, s.cfg.ID), nil)
		return
	}
	s.unacked.Limit.Allow()
}
