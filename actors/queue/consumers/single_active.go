package consumers

import (
	"slices"

	"candlemark/actors/system/mail"
)

// A queue with x-single-active-consumer (DEC-11) delivers only to its first consumer. When that is detached, the next
// becomes active: the oldest consumer of the highest priority. On a quorum queue a new consumer of a higher priority
// takes over as soon as the active one has no unacked deliveries; until then no consumer gets messages.

// Active reports whether c may get messages at all.
func (s *Consumers) Active(c *Consumer) bool {
	return s.paused == 0 && s.isActiveConsumer(c)
}

// SingleActive returns the active consumer of a queue with a single active consumer, nil for none.
func (s *Consumers) SingleActive() *Consumer {
	if !s.singleActive || s.active == nil || s.yielding() {
		return nil
	}
	return s.active
}

// isActiveConsumer reports whether c does not have to wait for another consumer to leave.
func (s *Consumers) isActiveConsumer(c *Consumer) bool {
	return !s.singleActive || c == s.active && !s.yielding()
}

// yielding reports whether the active consumer is to be replaced.
func (s *Consumers) yielding() bool {
	return s.takeover && s.waiting[0].Priority > s.active.Priority
}

func (s *Consumers) addWaiting(c *Consumer) {
	if !s.singleActive {
		return
	}
	i := slices.IndexFunc(s.waiting, func(x *Consumer) bool { return x.Priority < c.Priority })
	if i < 0 {
		i = len(s.waiting)
	}
	s.waiting = slices.Insert(s.waiting, i, c)
	s.electActive()
}

// removeWaiting removes a detached consumer from the order of succession.
func (s *Consumers) removeWaiting(c *Consumer) {
	if !s.singleActive {
		return
	}
	s.waiting = without(s.waiting, c)
	if s.active == c {
		s.active = nil
	}
	s.electActive()
}

// electActive activates the first in line if no consumer is active, or if the active one is to be replaced and has no
// unacked deliveries.
func (s *Consumers) electActive() {
	switch {
	case len(s.waiting) == 0:
		return
	case s.active == nil:
	case !s.yielding():
		s.refresh(s.active) // its replacement may have left
		return
	default:
		s.disallow(s.active.Channel, 0)
		s.refresh(s.active)
		if s.active.unacked > 0 {
			return
		}
	}
	s.active = s.waiting[0]
	s.refresh(s.active)
}

// CancelAll informs all consumers that their queue ends, and returns the allowances of their channels.
func (s *Consumers) CancelAll() {
	for _, h := range s.channels {
		s.disallow(h, 0)
		for _, c := range h.consumers {
			s.out.Send(h.Address, &mail.ConsumerCancelled{Queue: s.queue, Tag: c.Tag})
		}
	}
}

// Pause is a reason why no consumer gets messages.
type Pause uint8

// The reasons: all messages go elsewhere; deliveries are stopped until a time.
const (
	Forwarding Pause = 1 << iota
	Held
)

// Paused reports whether no consumer gets messages.
func (s *Consumers) Paused() bool { return s.paused != 0 }

// Pause stops deliveries to all consumers for a reason, or ends it.
func (s *Consumers) Pause(why Pause, on bool) {
	if s.paused &^= why; on {
		s.paused |= why
	}
	for _, h := range s.channels {
		s.disallow(h, 0)
		for _, c := range h.consumers {
			s.refresh(c)
		}
	}
}
