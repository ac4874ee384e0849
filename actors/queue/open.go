package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
)

// open lets time pass for a queue that was made from what the journal had: the
// lease begins anew (LEASE-4), and what is overdue expires (TTL-26).
func (s *state) open(m *mail.OpenQueue, now clock.Instant) {
	s.held, s.opener = false, m
	s.lease.Renew(now.Ceil())
	s.tick(now)
}

// opened answers when the turns that this takes are over.
func (s *state) opened() {
	if s.opener != nil && !s.out.again {
		s.send(s.opener.ReplyTo, &mail.QueueOpened{Reply: s.opener.Done(nil)})
		s.opener = nil
	}
}
