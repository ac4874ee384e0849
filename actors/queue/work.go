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

// work is a command's work on more messages than one turn may touch. Mail that
// comes behind it waits until it is done, so that nobody sees half of it.
type work struct {
	// step does a turn's worth and reports whether that was the last.
	step func(now clock.Instant) (done bool)
	// end is called when it is done.
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
	s.work = w
}

// waitsForWork parks mail from peers, in order, while there is work to be done, or mail
// that waited for it.
func (s *state) waitsForWork(what any) bool {
	if s.work == nil && (len(s.parked) == 0 || s.resumed) {
		return false
	}
	switch what.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		return false
	}
	s.parked = append(s.parked, what)
	return true
}

// stepWork does a turn's worth of the work.
func (s *state) stepWork(now clock.Instant) {
	w := s.work
	if w.expires {
		s.expireDue(now)
	}
	if w.step(now) {
		s.work = nil
		w.end(now)
		s.dueNow = true // what came due meanwhile
	}
}
