package consumers

import (
	"slices"

	"candlemark/actors/mail"
)

// A queue with x-single-active-consumer (DEC-11) gives its messages to one
// consumer: the one that came first. When that leaves, the next in line is
// active: of those with the highest priority, who came first. On a quorum queue
// a newcomer of a higher priority takes over as soon as the active one holds
// nothing more; until then nobody gets anything.

// Active reports whether c may be given messages at all.
func (s *Set) Active(c *Consumer) bool {
	return !s.paused && s.isActiveConsumer(c)
}

// SingleActive is the active consumer of a queue that has one at a time, nil for none.
func (s *Set) SingleActive() *Consumer {
	if !s.singleActive || s.active == nil || s.yielding() {
		return nil
	}
	return s.active
}

// isActiveConsumer reports whether c is not to stand back for another consumer.
func (s *Set) isActiveConsumer(c *Consumer) bool {
	return !s.singleActive || c == s.active && !s.yielding()
}

// yielding reports whether the active consumer is to make way.
func (s *Set) yielding() bool {
	return s.takeover && s.waiting[0].Priority > s.active.Priority
}

func (s *Set) addWaiting(c *Consumer) {
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

// removeWaiting takes a consumer that leaves out of the line.
func (s *Set) removeWaiting(c *Consumer) {
	if !s.singleActive {
		return
	}
	s.waiting = without(s.waiting, c)
	if s.active == c {
		s.active = nil
	}
	s.electActive()
}

// electActive makes the first in line active if nobody is, or if the active one is to
// make way and holds nothing more.
func (s *Set) electActive() {
	switch {
	case len(s.waiting) == 0:
		return
	case s.active == nil:
	case !s.yielding():
		s.refresh(s.active) // whoever it made way for may have left
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

// CancelAll tells all consumers that their queue ends, and returns what their channels
// allowed.
func (s *Set) CancelAll() {
	for _, h := range s.channels {
		s.disallow(h, 0)
		for _, c := range h.consumers {
			s.out.Send(h.Address, &mail.ConsumerCancelled{Queue: s.queue, Tag: c.Tag})
		}
	}
}

// Pause has nobody be given anything from now on, or ends that.
func (s *Set) Pause(on bool) {
	s.paused = on
	for _, h := range s.channels {
		s.disallow(h, 0)
		for _, c := range h.consumers {
			s.refresh(c)
		}
	}
}
