package session10

import (
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// attachments counts the links for which the connection's objects are charged.
type attachments struct {
	links int // counted links
	bytes int64
	begun int64 // bytes of a link that waits for its queue
}

// sizeOf returns the bytes of memory of a link.
func sizeOf(m *amqp10.Attach) int64 {
	size := budget.PriceLink + int64(len(m.Name)) + m.Properties.Memory() + m.Unsettled.Memory()
	if m.Source != nil {
		size += int64(len(m.Source.Address.Or(""))) + m.Source.Filter.Memory() + m.Source.DynamicNodeProperties.Memory()
	}
	if m.Target != nil {
		size += int64(len(m.Target.Address.Or(""))) + m.Target.DynamicNodeProperties.Memory()
	}
	return size
}

// roomFor returns why there is no room for a link.
func roomFor(s *state, m *amqp10.Attach) error {
	size := sizeOf(m)
	if err := s.cfg.Objects.Room(size + budget.PricePeer); err != nil {
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "cannot attach another link: %v", err)
	}
	s.attachments.begun, s.attachments.links = size, -1
	return nil
}

// attached counts the link of an attach, if it exists.
func attached(s *state, m *amqp10.Attach) {
	if l := s.links[m.Handle]; l != nil {
		l.size = sizeOf(m)
		s.attachments.links, s.attachments.begun = -1, 0
	}
}

// count charges the connection's objects with the links, if they have changed.
func (a *attachments) count(s *state) {
	if a.links == len(s.links) {
		return
	}
	if s.await == nil {
		a.begun = 0
	}
	bytes := a.begun
	for _, l := range s.links {
		bytes += max(l.size, budget.PriceLink)
	}
	s.cfg.Objects.Hold(bytes - a.bytes)
	if a.links, a.bytes = len(s.links), bytes; a.begun > 0 {
		a.links = -1 // counted again when the queue has answered
	}
}
