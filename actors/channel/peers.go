package channel

import "candlemark/actors/mail"

// peerGone: a queue ended, and everything it had to say has been heard. If it did
// not answer every publish, nobody knows what became of them.
func (s *state) peerGone(who mail.Address) {
	p := s.peers.Gone(who)
	if p == nil {
		return
	}
	for tag, c := range s.consumers {
		if c.Queue == &p.Queue {
			s.consumerCancelled(&mail.ConsumerCancelled{Queue: who, Tag: tag})
		}
	}
	if n := p.Unconfirmed(); n > 0 {
		s.fail(internalError("queue process ended without confirming %d messages", n), nil)
	}
}
