package clock

import (
	"sync/atomic"
	"time"
)

// Clock returns the broker's time (PRO-13): wall time as it was when the clock was made, and what has passed since,
// with what the machine has slept. It is safe for concurrent use.
type Clock struct {
	base    time.Time // with its monotonic reading
	wall    int64     // base in ns since 1970
	machine Machine
	boot    int64        // Boottime at base
	slept   atomic.Int64 // ns, as far as it was noticed
	skew    atomic.Int64 // ns
	seen    atomic.Pointer[seen]
	alarm   *timerQueue // nil: the runtime's timers are good enough
}

// New takes the base reading from the machine.
func New() *Clock { return Of(system{time.Now()}) }

// exact is how long the base reading may take; longer ones are repeated, in case the process was held up.
const exact = 20 * time.Microsecond

// Of takes it from m, which a test may stand in for. The distance from the base is always the process's own monotonic time.
func Of(m Machine) *Clock {
	c := &Clock{machine: m}
	c.seen.Store(&seen{at: forever})
	for took, tries := forever, 0; took > exact && tries < 10; tries++ {
		before := time.Now()
		wall, _ := m.Now()
		base := time.Now() // after the wall clock: the broker's time is never ahead of it
		if d := base.Sub(before); d < took {
			c.wall, c.base, took = wall, base, d
		}
	}
	c.boot, _ = m.Boottime()
	return c
}

// Now returns the present.
func (c *Clock) Now() Instant {
	now, _ := c.Read()
	return now
}

// Read returns the present, and how much of what lies behind the machine has slept, as far as Look has noticed: both of
// one moment. The present leaps over a sleep when it is noticed, and never goes back.
func (c *Clock) Read() (now Instant, slept time.Duration) {
	s := c.slept.Load()
	return Instant(c.wall + int64(time.Since(c.base)) + s), time.Duration(s)
}

// Skew returns how many ms the machine's wall clock is ahead of the broker's time, because it was set since: 0 unless
// it was by a second or more. Dates that enter or leave the broker must be converted by it.
func (c *Clock) Skew() int64 { return c.skew.Load() / int64(time.Millisecond) }

// Until returns how long it takes until the wall-clock millisecond ms begins; not positive when it has begun.
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
