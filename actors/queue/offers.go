package queue

import (
	"slices"

	"candlemark/actors/mail"
)

// offer tells channels with a common limit that there is something for them.
// When there is not, what they allowed goes back but for one message: the next
// one may not be able to wait for an answer (PRO-8, TTL-20).
func (s *state) offer() {
	ready := s.messages.Ready()
	for _, c := range s.limited {
		h, n, what := c.channel, min(ready, c.room()), forReady
		if ready == 0 {
			s.disallow(h, 1)
			what = inAdvance
		}
		if c.room() > 0 && h.allowed == 0 && h.offered < what && s.mayDeliverTo(c) {
			h.offered = what
			s.send(h.address, &mail.Offer{Queue: s.self, Messages: n})
		}
	}
}

// disallow returns what a channel allowed above keep and its consumers did not
// use.
func (s *state) disallow(h *consumerChannel, keep int) {
	if h.allowed > keep {
		s.send(h.address, &mail.Unused{Queue: s.self, Messages: h.allowed - keep})
		if h.allowed = keep; keep == 0 {
			s.refreshLimited(h)
		}
	}
}

// reclaimed: the channel needs elsewhere what it allowed.
func (s *state) reclaimed(m *mail.Reclaim) {
	if h := s.channels[m.Channel.Id]; h != nil {
		s.disallow(h, 0)
	}
}

func (s *state) allow(m *mail.Allow) {
	h := s.channels[m.Channel.Id]
	if h != nil {
		h.offered = noOffer
	}
	if h == nil || !slices.ContainsFunc(h.consumers, func(c *consumer) bool { return c.limited && s.mayDeliverTo(c) }) {
		s.send(m.Channel, &mail.Unused{Queue: s.self, Messages: m.Messages})
		return
	}
	h.allowed += m.Messages
	s.refreshLimited(h)
}

// limit puts a channel's consumers under its common limit or frees them.
func (s *state) limit(m *mail.Limit) {
	h := s.channels[m.Channel.Id]
	if h == nil {
		return
	}
	s.disallow(h, 0)
	h.offered = noOffer
	for _, c := range h.consumers {
		s.limited = without(s.limited, c)
		if c.limited = m.On && !c.noAck; c.limited {
			s.putUnderLimit(c)
		}
		s.refresh(c)
	}
}

// resize gives a channel's consumers another prefetch. One that holds more gets
// nothing until it has settled enough.
func (s *state) resize(m *mail.Resize) {
	h := s.channels[m.Channel.Id]
	if h == nil {
		return
	}
	for _, c := range h.consumers {
		if !c.noAck {
			c.prefetch = m.Prefetch
			s.refresh(c)
		}
	}
}
