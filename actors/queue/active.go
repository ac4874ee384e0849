package queue

// A queue with x-single-active-consumer (DEC-11) gives its messages to the
// consumer that came first; when that leaves, the next in line is active.

// active reports whether c may be given messages at all.
func (s *state) active(c *consumer) bool {
	return !s.settings.SingleActiveConsumer || len(s.line) > 0 && s.line[0] == c
}

func (s *state) queueUp(c *consumer) {
	if s.settings.SingleActiveConsumer {
		s.line = append(s.line, c)
	}
}

// stepDown takes a consumer that leaves out of the line.
func (s *state) stepDown(c *consumer) {
	if !s.settings.SingleActiveConsumer {
		return
	}
	was := s.active(c)
	s.line = without(s.line, c)
	if was && len(s.line) > 0 {
		s.refresh(s.line[0])
	}
}
