package consumers

import (
	"slices"

	"candlemark/actors/system/mail"
)

// offer is a queue's request to a channel for room under its common limit.
type offer uint8

const (
	noOffer   offer = iota
	inAdvance       // for one message that may come
	forReady        // for ready messages
)

// Offer informs channels with a common limit that messages are ready. If none are, it returns their allowance except
// for one message: the next one may not be able to wait for an answer (PRO-8, TTL-20).
func (s *Consumers) Offer(ready int) {
	for _, c := range s.limited {
		h, n, what := c.Channel, min(ready, c.room()), forReady
		if ready == 0 {
			s.disallow(h, 1)
			what = inAdvance
		}
		if c.room() > 0 && h.allowed == 0 && h.offered < what && s.Active(c) {
			h.offered = what
			s.out.Send(h.Address, &mail.QosOffer{Queue: s.queue, Messages: n})
		}
	}
}

// disallow returns the unused allowance of a channel in excess of keep.
func (s *Consumers) disallow(h *Holder, keep int) {
	if h.allowed > keep {
		s.out.Send(h.Address, &mail.QosUnused{Queue: s.queue, Messages: h.allowed - keep})
		if h.allowed = keep; keep == 0 {
			s.refreshLimited(h)
		}
	}
}

// Reclaim returns the allowance of a channel, which needs it for other queues.
func (s *Consumers) Reclaim(m *mail.QosReclaim) {
	if h := s.channels[m.Channel.GetId()]; h != nil {
		s.disallow(h, 0)
	}
}

// Allow adds to the allowance of a channel's consumers under their common limit.
func (s *Consumers) Allow(m *mail.QosAllow) {
	h := s.channels[m.Channel.GetId()]
	if h != nil {
		h.offered = noOffer
	}
	if h == nil || !slices.ContainsFunc(h.consumers, func(c *Consumer) bool { return c.Limited && s.Active(c) }) {
		s.out.Send(m.Channel, &mail.QosUnused{Queue: s.queue, Messages: m.Messages})
		return
	}
	h.allowed += m.Messages
	s.refreshLimited(h)
}

// Limit subjects a channel's consumers to its common limit, or frees them from it.
func (s *Consumers) Limit(m *mail.QosLimited) {
	h := s.channels[m.Channel.GetId()]
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

// Resize changes the prefetch of a channel's consumers. One with more unacked deliveries gets no messages until it has
// settled enough.
func (s *Consumers) Resize(m *mail.SetPrefetch) {
	h := s.channels[m.Channel.GetId()]
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

// useCredit takes one message for c from its channel's allowance. The channel's other consumers come first for later
// messages.
func (s *Consumers) useCredit(c *Consumer) {
	h := c.Channel
	h.allowed--
	i := slices.Index(h.consumers, c)
	copy(h.consumers[i:], h.consumers[i+1:])
	h.consumers[len(h.consumers)-1] = c
	if h.allowed == 0 {
		s.refreshLimited(h)
	}
}

// refreshLimited updates, after a change of its allowance, which limited consumers of a channel can take messages.
func (s *Consumers) refreshLimited(h *Holder) {
	for _, c := range h.consumers {
		if c.Limited {
			s.refresh(c)
		}
	}
}
