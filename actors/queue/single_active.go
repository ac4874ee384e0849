package queue

import "slices"

// A queue with x-single-active-consumer (DEC-11) gives its messages to one
// consumer: the one that came first. When that leaves, the next in line is
// active: of those with the highest priority, who came first. On a quorum queue
// a newcomer of a higher priority takes over as soon as the active one holds
// nothing more; until then nobody gets anything.

// mayDeliverTo reports whether c may be given messages at all: nobody is where they are
// moved on.
func (s *state) mayDeliverTo(c *consumer) bool {
	return !s.settings.HasForward && s.isActiveConsumer(c)
}

// isActiveConsumer reports whether c is not to stand back for another consumer.
func (s *state) isActiveConsumer(c *consumer) bool {
	return !s.settings.SingleActiveConsumer || c == s.activeConsumer && !s.yielding()
}

// yielding reports whether the active consumer is to make way.
func (s *state) yielding() bool {
	return s.quorum && s.waitingConsumers[0].priority > s.activeConsumer.priority
}

func (s *state) addWaiting(c *consumer) {
	if !s.settings.SingleActiveConsumer {
		return
	}
	i := slices.IndexFunc(s.waitingConsumers, func(x *consumer) bool { return x.priority < c.priority })
	if i < 0 {
		i = len(s.waitingConsumers)
	}
	s.waitingConsumers = slices.Insert(s.waitingConsumers, i, c)
	s.electActive()
}

// removeWaiting takes a consumer that leaves out of the line.
func (s *state) removeWaiting(c *consumer) {
	if !s.settings.SingleActiveConsumer {
		return
	}
	s.waitingConsumers = without(s.waitingConsumers, c)
	if s.activeConsumer == c {
		s.activeConsumer = nil
	}
	s.electActive()
}

// electActive makes the first in line active if nobody is, or if the active one is to
// make way and holds nothing more.
func (s *state) electActive() {
	switch {
	case len(s.waitingConsumers) == 0:
		return
	case s.activeConsumer == nil:
	case !s.yielding():
		return
	default:
		s.disallow(s.activeConsumer.channel, 0)
		s.refresh(s.activeConsumer)
		if s.activeConsumer.unacked > 0 {
			return
		}
	}
	s.activeConsumer = s.waitingConsumers[0]
	s.refresh(s.activeConsumer)
}
