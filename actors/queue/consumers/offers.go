package consumers

import (
	"slices"

	"candlemark/actors/mail"
)

// offer is a queue's request to a channel for room under its common limit.
type offer uint8

const (
	noOffer   offer = iota
	inAdvance       // room for one message, should one come
	forReady        // room for messages that are there
)

// Offer tells channels with a common limit that there is something for them.
// When there is not, what they allowed goes back but for one message: the next
// one may not be able to wait for an answer (PRO-8, TTL-20).
func (s *Set) Offer(ready int) {
	for _, c := range s.limited {
		h, n, what := c.Channel, min(ready, c.room()), forReady
		if ready == 0 {
			s.disallow(h, 1)
			what = inAdvance
		}
		if c.room() > 0 && h.allowed == 0 && h.offered < what && s.Active(c) {
			h.offered = what
			s.out.Send(h.Address, &mail.Offer{Queue: s.queue, Messages: n})
		}
	}
}

// disallow returns what a channel allowed above keep and its consumers did not
// use.
func (s *Set) disallow(h *Channel, keep int) {
	if h.allowed > keep {
		s.out.Send(h.Address, &mail.Unused{Queue: s.queue, Messages: h.allowed - keep})
		if h.allowed = keep; keep == 0 {
			s.refreshLimited(h)
		}
	}
}

// Reclaim returns what a channel allowed: it needs that elsewhere.
func (s *Set) Reclaim(m *mail.Reclaim) {
	if h := s.channels[m.Channel.Id]; h != nil {
		s.disallow(h, 0)
	}
}

// Allow takes what a channel allows its consumers under their common limit.
func (s *Set) Allow(m *mail.Allow) {
	h := s.channels[m.Channel.Id]
	if h != nil {
		h.offered = noOffer
	}
	if h == nil || !slices.ContainsFunc(h.consumers, func(c *Consumer) bool { return c.Limited && s.Active(c) }) {
		s.out.Send(m.Channel, &mail.Unused{Queue: s.queue, Messages: m.Messages})
		return
	}
	h.allowed += m.Messages
	s.refreshLimited(h)
}

// Limit puts a channel's consumers under its common limit or frees them.
func (s *Set) Limit(m *mail.Limit) {
	h := s.channels[m.Channel.Id]
	if h == nil {
		return
	}
	s.disallow(h, 0)
	h.offered = noOffer
	for _, c := range h.consumers {
		s.limited = without(s.limited, c)
		if c.Limited = m.On && !c.NoAck; c.Limited {
			s.putUnderLimit(c)
		}
		s.refresh(c)
	}
}

// Resize gives a channel's consumers another prefetch. One that holds more gets
// nothing until it has settled enough.
func (s *Set) Resize(m *mail.Resize) {
	h := s.channels[m.Channel.Id]
	if h == nil {
		return
	}
	for _, c := range h.consumers {
		if !c.NoAck {
			c.Prefetch = m.Prefetch
			s.refresh(c)
		}
	}
}

// useCredit takes one message for c from what its channel allowed. The other
// consumers of the channel come before it when there is more.
func (s *Set) useCredit(c *Consumer) {
	h := c.Channel
	h.allowed--
	i := slices.Index(h.consumers, c)
	copy(h.consumers[i:], h.consumers[i+1:])
	h.consumers[len(h.consumers)-1] = c
	if h.allowed == 0 {
		s.refreshLimited(h)
	}
}

// refreshLimited has those consumers of a channel that share its limit take part
// or not, as it allows.
func (s *Set) refreshLimited(h *Channel) {
	for _, c := range h.consumers {
		if c.Limited {
			s.refresh(c)
		}
	}
}
