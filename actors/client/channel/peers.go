package channel

import (
	"candlemark/actors/client/peers"
	"candlemark/actors/system/mail"
)

// peerGone handles the end of a queue, after all its mail. The fate of publishes that it has not answered is unknown.
func (s *state) peerGone(p *peers.QueueLink) {
	for tag, c := range s.consumers {
		if c.Queue == &p.Queue {
			s.consumerCancelled(&mail.ConsumerCancelled{Queue: p.Address, Tag: tag})
		}
	}
	if n := p.Unconfirmed(); n > 0 {
		s.fail(internalError("queue process ended without confirming %d messages", n), nil)
	}
}
