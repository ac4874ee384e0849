package queue

import (
	"slices"

	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// phase is a stage in the life of a queue, from start to end (doc.go).
type phase uint8

const (
	// live: messages are published and delivered.
	live phase = iota
	// recovering: recovered, but actors on which it depends are not ready; mail is parked.
	recovering
	// closing: a command deletes the queue, and its dead letters are sent for the last time; mail is parked.
	closing
	// retiring: the queue has asked the vhost to forget it; mail is parked until the vhost answers.
	retiring
	// ending: unpublished by the vhost; the queue sends the messages that must arrive elsewhere.
	ending
	// ended: forgotten by the vhost; the shell closes the mailbox.
	ended
)

// becomeRecovering: the recovered queue starts and waits for Wake.
func (p *phase) becomeRecovering() bool { return p.become(recovering, live) }

// becomeLive: the queue was woken, or kept by the vhost.
func (p *phase) becomeLive() bool { return p.become(live, recovering, retiring) }

// becomeClosing: it is to be deleted, and has dead letters.
func (p *phase) becomeClosing() bool { return p.become(closing, live) }

// becomeRetiring: its lease is over, or it is to be deleted, or it has nothing left to send.
func (p *phase) becomeRetiring() bool { return p.become(retiring, live, closing, ending) }

// becomeEnding: the vhost has unpublished it, now or before a restart.
func (p *phase) becomeEnding() bool { return p.become(ending, recovering, retiring) }

// becomeEnded: the vhost has forgotten it.
func (p *phase) becomeEnded() bool { return p.become(ended, retiring) }

// becomeAborted ends the queue in any phase.
func (p *phase) becomeAborted() bool {
	return p.become(ended, live, recovering, closing, retiring, ending)
}

// become changes the phase if it is one of from, and reports whether it did. The same trigger may come twice.
func (p *phase) become(next phase, from ...phase) bool {
	if !slices.Contains(from, *p) {
		return false
	}
	*p = next
	return true
}

// handleRecovering handles mail while the queue is recovering.
func (s *state) handleRecovering(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.Configure:
		s.configure(m, now)
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Activate:
		if s.queue.Ending != "" {
			s.resumeEnding(m, now)
			return
		}
		s.dueNow = s.phase.becomeLive() // messages may have become due before the queue was woken
		s.waking = m
		s.lease.Renew(now.Ceil(), expiry.LeaseStarted) // restarts the full period (LEASE-4)
	case timerFired, again:
	default:
		s.pending.Park(received)
	}
}
