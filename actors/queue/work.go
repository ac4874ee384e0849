package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
)

// workLimit is how many messages a command touches in one turn, and how many are
// delivered in one. What is above it goes on in further turns (ADR 29).
const workLimit = 4096

// unparkLimit is how many parked mails are handled in one turn of the actor, as many
// as the dispatcher hands over at a time.
const unparkLimit = 32

// work is what a command does to more messages than one turn may touch. Mail that
// comes behind it waits until it is done, so that nobody sees half of it.
type work struct {
	// step does a turn's worth and reports whether that was the last.
	step func(now clock.Instant) (done bool)
	// end is what follows.
	end func(now clock.Instant)
	// asked is who is to be told if the queue fails meanwhile; nil if nobody waits.
	asked mail.Answerable
	// expires: messages come due meanwhile as ever.
	expires bool
}

// startWork does a first step, and all of the work if that is enough.
func (s *state) startWork(w *work, now clock.Instant) {
	if w.step(now) {
		w.end(now)
		return
	}
	s.continueWork(w)
}

// continueWork has the work go on in the turns to come.
func (s *state) continueWork(w *work) { s.work, s.out.again = w, true }

// waitsForWork handles mail while there is work to be done, or mail that waited for it:
// what comes from peers is parked, in order.
func (s *state) waitsForWork(what any, now clock.Instant) bool {
	if s.work == nil && (len(s.parked) == 0 || s.resumed) {
		return false
	}
	switch m := what.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		if s.work == nil {
			return false
		}
		s.meanwhile(m, now)
	default:
		s.parked = append(s.parked, what)
	}
	return true
}

// meanwhile is what goes on beside the work, and the work itself.
func (s *state) meanwhile(what any, now clock.Instant) {
	switch m := what.(type) {
	case appendDone:
		s.committed(m)
	case loaded:
		s.contentsRead(m, now)
	case *mail.DeadLetterReply:
		s.onDeadLetterReply(m, now)
	case again:
		w := s.work
		if w.expires {
			s.expireDue(now)
			s.flushDeadLetters(now)
		}
		if w.step(now) {
			s.work = nil
			w.end(now)
			if s.phase == live {
				s.tick(now) // what came due meanwhile
			}
		}
	}
	s.out.again = s.out.again || s.work != nil
}
