package queue

import (
	"slices"
	"time"

	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// The core goes by the broker's time alone. What it has written down goes by the
// machine's wall clock, which may have been set since the broker started (ADR 19).

// now is the time of a turn. What the machine has slept since the last one is told
// to the core first.
func (q *queue) now() clock.Instant {
	now, slept := q.cfg.Clock.Read()
	q.state.skew = q.cfg.Clock.Skew()
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
	s.lease.Renew(now.Ceil())
	s.ackTimeouts.Postpone(int64(d+time.Millisecond-1) / int64(time.Millisecond))
}

// toWall moves records that are about to be written from the broker's time to the
// wall clock's.
func (q *queue) toWall(c *commit, marks []store.Record) {
	skew := q.state.skew
	if skew == 0 {
		return
	}
	records := marks
	if c != nil {
		records = c.records
	}
	for i := range records {
		r := &records[i]
		r.Time += skew
		r.Deadline = shiftDeadline(r.Deadline, skew)
		r.Due = shiftDeadline(r.Due, skew)
	}
}

// fromWall moves what was written to the broker's time. What was written in the
// future, before the clock was set back, was written now: nothing is held for longer
// than it was to be from the start.
func fromWall(list []store.Recovered, skew int64, now clock.Instant) []store.Recovered {
	own := false
	for i := range list {
		by := skew + max(list[i].Time-skew-now.Ceil(), 0)
		if by == 0 {
			continue
		}
		if !own { // it may be needed again as it is
			list, own = slices.Clone(list), true
		}
		m := &list[i]
		m.Time -= by
		if m.Due == m.Deadline { // held for a time, and not until a date
			m.Due = shiftDeadline(m.Due, -by)
		} else {
			m.Due = shiftDeadline(m.Due, -skew)
		}
		m.Deadline = shiftDeadline(m.Deadline, -by)
	}
	return list
}

// shiftDeadline is a deadline in another time; none stays none.
func shiftDeadline(deadline, by int64) int64 {
	if deadline <= 0 || deadline == store.Never {
		return deadline
	}
	return max(deadline+by, 1)
}

// date is an instant as x-death tells it, in s since 1970.
func (s *state) date(now clock.Instant) int64 { return (now.Floor() + s.skew) / 1000 }
