package clock

import (
	"sync/atomic"
	"time"
)

// Clock returns the broker's time (PRO-13): the wall time when the clock was made, plus the time passed since,
// including sleep of the machine. It is safe for concurrent use.
type Clock struct {
	base    time.Time // with its monotonic reading
	wall    int64     // base in ns since 1970
	machine Machine
	boot    int64        // Boottime at base
	slept   atomic.Int64 // ns, as far as noticed
	skew    atomic.Int64 // ns
	told    int64        // the skew after the last Look
	seen    atomic.Pointer[seen]
	alarm   *timerQueue // nil: the runtime's timers are used
	manual  *manual     // nil unless it is a test clock
	cluster bool        // its time is that of a cluster
}

// New returns a Clock based on the machine's clock.
func New() *Clock { return Of(System()) }

// exact is the maximum duration of the base reading; longer ones are repeated, as the process may have been delayed.
const exact = 20 * time.Microsecond

// Of returns a Clock based on m, which tests may replace. The time since the base is always the process's own monotonic
// time.
func Of(m Machine) *Clock {
	return of(m, func() int64 {
		wall, _ := m.Now()
		return wall
	})
}

// Continue returns the Clock of a broker that goes on with the time of a cluster: now returns it, in ns since 1970. The wall clock of m is
// that of dates (CLU-10). Dates keeps no difference in the journal, as other nodes read it.
func Continue(m Machine, now func() int64) *Clock {
	c := of(m, now)
	c.cluster = true
	for range 10 {
		if r, ok := c.look(); ok {
			c.skew.Store(r.skew)
			c.told = r.skew
			break
		}
	}
	return c
}

// of returns a Clock whose time begins with what now returns.
func of(m Machine, now func() int64) *Clock {
	c := &Clock{machine: m}
	c.seen.Store(&seen{at: forever})
	for took, tries := forever, 0; took > exact && tries < 10; tries++ {
		before := time.Now()
		wall := now()
		base := time.Now() // after the wall clock: the broker's time is never ahead of it
		if d := base.Sub(before); d < took {
			c.wall, c.base, took = wall, base, d
		}
	}
	c.boot, _ = m.Boottime()
	return c
}

// Now returns the current time.
func (c *Clock) Now() Instant {
	now, _ := c.Read()
	return now
}

// Read returns the current time and, of the same moment, the total time that the machine has slept, as far as Look has
// noticed. The current time jumps ahead when a sleep is noticed, and never goes back. A test clock ignores sleep (CLK-13).
func (c *Clock) Read() (now Instant, slept time.Duration) {
	if m := c.manual; m != nil {
		return m.now(), 0
	}
	s := c.slept.Load()
	return Instant(c.wall + int64(time.Since(c.base)) + s), time.Duration(s)
}

// Skew returns how many ms the machine's wall clock is ahead of the broker's time, because it was set since: 0 if by
// less than a second. Look and Dates read the clocks. Dates that enter or leave the broker are converted by Dates.
func (c *Clock) Skew() int64 {
	ns := c.skew.Load()
	ms := ns / int64(time.Millisecond)
	if ns < ms*int64(time.Millisecond) { // rounded down, so that no date is early
		ms--
	}
	return ms
}

// Until returns the time until the wall-clock millisecond ms begins; not positive if it has begun.
func (c *Clock) Until(ms int64) time.Duration {
	const maxMillis = int64(1<<63-1) / int64(time.Millisecond)
	if ms > maxMillis {
		ms = maxMillis
	}
	return time.Duration(ms*int64(time.Millisecond) - int64(c.Now()))
}

// Instant is a point of the broker's time in ns since 1970, valid until the year 2262.
type Instant int64

// Floor returns the instant in wall ms, rounded down: what expiry tests compare a deadline with.
func (i Instant) Floor() int64 { return int64(i) / int64(time.Millisecond) }

// Ceil returns the instant in wall ms, rounded up: what deadlines are computed from.
func (i Instant) Ceil() int64 {
	return (int64(i) + int64(time.Millisecond) - 1) / int64(time.Millisecond)
}
