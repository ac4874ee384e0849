package queue

import (
	"time"

	"candlemark/actors/queue/lease"
	"candlemark/internal/clock"
)

// The core goes by the broker's time alone. What it has written down goes by the
// machine's wall clock, which may have been set since the broker started (ADR 19).

// now is the time of a turn. What the machine has slept since the last one is told
// to the core first.
func (q *queue) now() clock.Instant {
	now, slept := q.cfg.Clock.Read()
	q.state.Skew = q.cfg.Clock.Skew()
	if slept != q.slept {
		q.state.machineSlept(slept-q.slept, now)
		q.slept = slept
	}
	return now
}

// machineSlept does not hold the machine's sleep against anybody who could not do
// anything meanwhile: leases begin anew, as after a restart (LEASE-4), and
// deliveries have as long to be settled as they had before. What has a deadline is
// overdue, as after a restart too (TTL-26).
func (s *state) machineSlept(d time.Duration, now clock.Instant) {
	s.lease.Renew(now.Ceil(), lease.Awoken)
	ms := int64(d+time.Millisecond-1) / int64(time.Millisecond)
	s.deliveries.Timeouts.Postpone(ms)
	s.Sessions.Postpone(ms)
}
