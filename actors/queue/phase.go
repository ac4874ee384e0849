package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/messages"
	"candlemark/internal/clock"
)

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
func (p *phase) becomeAsleep() bool { return p.become(asleep, live) }

// becomeLive: it is woken, or kept.
func (p *phase) becomeLive() bool { return p.become(live, asleep, retiring) }

// becomeRetiring: its lease is over, or it is to be deleted.
func (p *phase) becomeRetiring() bool { return p.become(retiring, live) }

// becomeDraining: the vhost has forgotten it.
func (p *phase) becomeDraining() bool { return p.become(draining, retiring) }

// becomeEnded: there is nothing left to be sent.
func (p *phase) becomeEnded() bool { return p.become(ended, draining) }

// becomeAborted ends it wherever it is.
func (p *phase) becomeAborted() bool { return p.become(ended, live, asleep, retiring, draining) }

// become changes the phase if it is one of from, and reports whether it was: what
// leads to a change may come twice.
func (p *phase) become(next phase, from ...phase) bool {
	if !slices.Contains(from, *p) {
		return false
	}
	*p = next
	return true
}

// handleAsleep takes mail while the queue is asleep.
func (s *state) handleAsleep(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.Configure:
		before := s.Settings
		s.effective, s.Settings = matchedBy(m.Effective), m.Settings
		s.lease.SetPeriod(period(s.Settings.Expires), now.Ceil(), lease.Changed)
		s.forwardToChanged(&before, now)
		for s.Expiry.Follow(&before); s.Expiry.Recompute(messages.TurnLimit); {
		}
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Wake:
		s.dueNow = s.phase.becomeLive() // what came due before
		s.waking = m
		s.lease.Renew(now.Ceil(), lease.Started) // its full period after a restart (LEASE-4)
	case timerFired, again:
	default:
		s.pending.Park(what)
	}
}
