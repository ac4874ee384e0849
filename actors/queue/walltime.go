package queue

import (
	"time"

	"candlemark/internal/measure/clock"
)

// The core uses the broker's time only. Times in records are in wall-clock time; the clock may have been set since the
// broker started (ADR 19).

// now returns the time of a turn. If the machine was suspended since the last turn, the core is informed first.
func (q *queue) now() clock.Instant {
	now, slept := q.cfg.Clock.Read()
	m := &q.state.messages
	m.Dates, m.Pager.Apart = q.cfg.Clock.Dates(), clock.Instant(q.cfg.Clock.Apart())
	if slept != q.slept {
		q.state.machineSlept(slept-q.slept, now)
		q.slept = slept
	}
	return now
}

// machineSlept compensates for d during which the machine slept and clients could not act: the lease restarts, as
// after a restart (LEASE-4), and timeouts of deliveries are extended. Deadlines of messages are not: they are
// overdue, as after a restart (TTL-26).
func (s *state) machineSlept(d time.Duration, now clock.Instant) {
	ms := int64(d+time.Millisecond-1) / int64(time.Millisecond)
	s.each(func(p part) {
		if x, ok := p.(sleeper); ok {
			x.Slept(ms, now)
		}
	})
}
