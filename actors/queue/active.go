package queue

import "slices"

// A queue with x-single-active-consumer (DEC-11) gives its messages to one
// consumer: the one that came first. When that leaves, the next in line is
// active: of those with the highest priority, who came first. On a quorum queue
// a newcomer of a higher priority takes over as soon as the active one holds
// nothing more; until then nobody gets anything.

// active reports whether c may be given messages at all: nobody is where they are
// moved on.
func (s *state) active(c *consumer) bool {
	return !s.settings.HasForward && s.favoured(c)
}

// favoured reports whether c is not to stand back for another consumer.
func (s *state) favoured(c *consumer) bool {
	return !s.settings.SingleActiveConsumer || c == s.sole && !s.waning()
}

// waning reports whether the active consumer is to make way.
func (s *state) waning() bool {
	return s.quorum && s.line[0].priority > s.sole.priority
}

func (s *state) queueUp(c *consumer) {
	if !s.settings.SingleActiveConsumer {
		return
	}
	i := slices.IndexFunc(s.line, func(x *consumer) bool { return x.priority < c.priority })
	if i < 0 {
		i = len(s.line)
	}
	s.line = slices.Insert(s.line, i, c)
	s.elect()
}

// stepDown takes a consumer that leaves out of the line.
func (s *state) stepDown(c *consumer) {
	if !s.settings.SingleActiveConsumer {
		return
	}
	s.line = without(s.line, c)
	if s.sole == c {
		s.sole = nil
	}
	s.elect()
}

// elect makes the first in line active if nobody is, or if the active one is to
// make way and holds nothing more.
func (s *state) elect() {
	switch {
	case len(s.line) == 0:
		return
	case s.sole == nil:
	case !s.waning():
		return
	default:
		s.disallow(s.sole.holder, 0)
		s.refresh(s.sole)
		if s.sole.unacked > 0 {
			return
		}
	}
	s.sole = s.line[0]
	s.refresh(s.sole)
}
