package queue

import "slices"

// phase is where a queue is on its way from its start to its end (doc.go).
type phase uint8

const (
	// live: messages come and go.
	live phase = iota
	// asleep: recovered, but what it has to do with is not; mail is parked.
	asleep
	// retiring: the vhost was asked to forget the queue; mail is parked until
	// it answers.
	retiring
	// draining: forgotten; dead letters have yet to be taken care of.
	draining
	// ended: the shell closes the mailbox.
	ended
)

// becomeAsleep: it begins and has to wait.
func (s *state) becomeAsleep() bool { return s.become(asleep, live) }

// becomeLive: it is woken, or kept. What came due before is done in this turn.
func (s *state) becomeLive() bool {
	begins := s.become(live, asleep, retiring)
	s.dueNow = s.dueNow || begins
	return begins
}

// becomeRetiring: its lease is over, or it is to be deleted.
func (s *state) becomeRetiring() bool { return s.become(retiring, live) }

// becomeDraining: the vhost has forgotten it.
func (s *state) becomeDraining() bool { return s.become(draining, retiring) }

// becomeEnded: there is nothing left to be sent.
func (s *state) becomeEnded() bool { return s.become(ended, draining) }

// becomeAborted ends it wherever it is.
func (s *state) becomeAborted() bool { return s.become(ended, live, asleep, retiring, draining) }

// become changes the phase if it is one of from, and reports whether it was: what
// leads to a change may come twice.
func (s *state) become(next phase, from ...phase) bool {
	if !slices.Contains(from, s.phase) {
		return false
	}
	s.phase = next
	if x := s.deadLetters; x != nil {
		x.Draining, x.Ended = next >= draining, next == ended
	}
	return true
}
