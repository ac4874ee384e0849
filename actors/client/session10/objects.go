package session10

import (
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// attachments counts the links for which the connection's objects are charged.
type attachments struct {
	objects *budget.Holder // nil for no limit
	links   int            // counted links
	bytes   int64
	begun   int64 // bytes of a link that waits for its queue
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

// room returns why there is no room for a link.
func (a *attachments) room(m *amqp10.Attach) error {
	size := sizeOf(m)
	if err := a.objects.Room(size + budget.PricePeer); err != nil {
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "cannot attach another link: %v", err)
	}
	a.begun, a.links = size, -1
	return nil
}

// attached counts the link of an attach, unless it is nil.
func (a *attachments) attached(l *link, m *amqp10.Attach) {
	if l != nil {
		l.size = sizeOf(m)
		a.links, a.begun = -1, 0
	}
}

// count charges the connection's objects with the links, if they have changed. An attach may wait for its queue.
func (a *attachments) count(links map[uint32]*link, waits bool) {
	if a.links == len(links) {
		return
	}
	if !waits {
		a.begun = 0
	}
	bytes := a.begun
	for _, l := range links {
		bytes += max(l.size, budget.PriceLink)
	}
	a.objects.Hold(bytes - a.bytes)
	if a.links, a.bytes = len(links), bytes; a.begun > 0 {
		a.links = -1 // counted again when the queue has answered
	}
}
