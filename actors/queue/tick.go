package queue

import (
	"candlemark/internal/clock"
	"candlemark/policies"
)

// deadline is the earliest of what the queue waits for, in wall ms. Nothing is
// due while the vhost decides about it.
func (s *state) deadline() (int64, bool) {
	if s.phase != live || s.work != nil {
		return 0, false
	}
	at, ok := s.nextExpiry()
	if l, has := s.lease.Deadline(); has && (!ok || l < at) {
		at, ok = l, true
	}
	if s.ackTimeouts != nil {
		if l, has := s.ackTimeouts.wheel.Next(); has && (!ok || l+s.ackTimeouts.shift < at) {
			at, ok = l+s.ackTimeouts.shift, true
		}
	}
	if r := s.deadLetters.retries.at; r != 0 && !s.deadLetters.retries.reading && (!ok || r < at) {
		at, ok = r, true
	}
	if r, has := s.nextRelease(); has && (!ok || r < at) {
		at, ok = r, true
	}
	if r := s.paging.until; r != 0 && (!ok || r < at) {
		at, ok = r, true
	}
	return at, ok
}

// tick does what is due: returns, expiry, then the lease.
func (s *state) tick(now clock.Instant) {
	s.recomputeDeadlines()
	cancelled := s.expireAckTimeouts(now)
	s.releaseDue(now)
	s.expireDue(now)
	s.enforce(now)
	s.readAgain(now)
	s.resume(now)
	if cancelled {
		s.consumerLeft()
	}
	s.wakeIfDone()
	if !s.lease.Expired(now.Floor()) {
		return
	}
	pending := s.scheduledPending()
	if s.settings.ExpiresIfEmpty && (s.messages.Len() > 0 || pending) || s.settings.RenewedBy.Has(policies.RenewedByScheduled) && pending {
		s.lease.Renew(now.Ceil()) // LEASE-13
		return
	}
	s.retire(leaseRanOut, nil)
}

// renewedBy renews the lease for what is a use only if expires-renewed-by says so
// (LEASE-4).
func (s *state) renewedBy(use policies.Renewals, now clock.Instant) {
	if s.settings.RenewedBy.Has(use) {
		s.lease.Renew(now.Ceil())
	}
}
