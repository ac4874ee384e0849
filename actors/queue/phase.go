package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/messages"
	"candlemark/internal/clock"
)

// phase is a stage in the life of a queue, from start to end (doc.go).
type phase uint8

const (
	// live: messages are published and delivered.
	live phase = iota
	// asleep: recovered, but actors on which it depends are not ready; mail is parked.
	asleep
	// retiring: the queue has asked the vhost to forget it; mail is parked until the vhost answers.
	retiring
	// draining: forgotten by the vhost; dead letters are not settled yet.
	draining
	// ended: the shell closes the mailbox.
	ended
)

// becomeAsleep: the recovered queue starts and waits for Wake.
func (p *phase) becomeAsleep() bool { return p.become(asleep, live) }

// becomeLive: the queue was woken, or kept by the vhost.
func (p *phase) becomeLive() bool { return p.become(live, asleep, retiring) }

// becomeRetiring: its lease is over, or it is to be deleted.
func (p *phase) becomeRetiring() bool { return p.become(retiring, live) }

// becomeDraining: the vhost has forgotten it.
func (p *phase) becomeDraining() bool { return p.become(draining, retiring) }

// becomeEnded: all dead letters are settled.
func (p *phase) becomeEnded() bool { return p.become(ended, draining) }

// becomeAborted ends the queue in any phase.
func (p *phase) becomeAborted() bool { return p.become(ended, live, asleep, retiring, draining) }

// become changes the phase if it is one of from, and reports whether it did. The same trigger may come twice.
func (p *phase) become(next phase, from ...phase) bool {
	if !slices.Contains(from, *p) {
		return false
	}
	*p = next
	return true
}

// handleAsleep handles mail while the queue is asleep.
func (s *state) handleAsleep(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.Configure:
		before := applySettings(s, m, now)
		for s.Expiry.Follow(&before); s.Expiry.Recompute(messages.TurnLimit); {
		}
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Wake:
		s.dueNow = s.phase.becomeLive() // messages may have become due meanwhile
		s.waking = m
		s.lease.Renew(now.Ceil(), lease.Started) // restarts the full period (LEASE-4)
	case timerFired, again:
	default:
		s.pending.Park(received)
	}
}
