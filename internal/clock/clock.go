package clock

import "time"

// Clock tells wall time that advances monotonically from one base (DESIGN §5a.13).
// It is safe for concurrent use.
type Clock struct {
	base time.Time // with its monotonic reading
	wall int64     // base in ns since 1970
}

// New takes the base reading from the machine.
func New() *Clock {
	base := time.Now()
	return &Clock{base: base, wall: base.UnixNano()}
}

// Now is the present.
func (c *Clock) Now() Instant {
	return Instant(c.wall + int64(time.Since(c.base)))
}

// Until is how long it takes until the wall-clock millisecond ms begins; not
// positive when it has begun.
func (c *Clock) Until(ms int64) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	if ms > longest {
		ms = longest
	}
	return time.Duration(ms*int64(time.Millisecond) - int64(c.Now()))
}

// Instant is a point of time in ns since 1970, valid until the year 2262.
type Instant int64

// Floor is the instant in wall ms, rounded down: what expiry tests compare a
// deadline with.
func (i Instant) Floor() int64 { return int64(i) / int64(time.Millisecond) }

// Ceil is the instant in wall ms, rounded up: what deadlines are computed from.
func (i Instant) Ceil() int64 {
	return (int64(i) + int64(time.Millisecond) - 1) / int64(time.Millisecond)
}
