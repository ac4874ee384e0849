package clock

import "time"

const (
	// minSleep is the shortest sleep that Look reports; shorter ones add up.
	minSleep = 100 * time.Millisecond
	// minStep is the smallest change of the wall clock that Look reports. Gradual adjustments also affect the monotonic
	// clock.
	minStep = time.Second
	// maxSpread is the longest time a look may take, and the largest difference of its readings; others are discarded.
	maxSpread = 10 * time.Millisecond
)

// Machine is the source of a clock's time.
type Machine interface {
	// Now returns the wall clock, in ns since 1970, and the process's monotonic clock at the same moment, from any origin.
	Now() (wall int64, awake time.Duration)
	// Boottime returns a monotonic clock that advances while the machine sleeps, in ns from any origin; false if there is
	// none.
	Boottime() (ns int64, ok bool)
}

// Look compares the machine's clocks. It returns how long the machine has slept since the last Look, by which Now advances, and by how
// much its wall clock was set since then, which changes only Skew. It also detects pauses of the process, by the time since the last Look
// (Paused). One goroutine at a time may call it, every LookEvery.
func (c *Clock) Look() (slept, set time.Duration) {
	r, ok := c.look()
	c.looked(r.passed, r.passed)
	if !ok {
		return 0, 0 // left to the next look
	}
	slept = r.slept - time.Duration(c.slept.Swap(int64(r.slept)))
	c.adopt(r.skew)
	if by := time.Duration(c.skew.Load() - c.told); by.Abs() >= minStep {
		set = by
		c.told += int64(by)
	}
	return slept, set
}

// reading is the result of reading all clocks of the machine.
type reading struct {
	passed time.Duration // since the base, without sleep
	slept  time.Duration // since the base, without very short sleeps
	skew   int64         // ns by which the wall clock is ahead
}

// look reads the machine's clocks; false if they could not be compared: the process was delayed, the wall clock was set
// or the machine slept between the readings.
func (c *Clock) look() (r reading, ok bool) {
	wall, awake := c.machine.Now()
	boot, has := c.machine.Boottime()
	r.passed = time.Since(c.base) // between the readings, so that it is as accurate
	wallThen, awakeThen := c.machine.Now()
	if took := awakeThen - awake; took > maxSpread || (time.Duration(wallThen-wall)-took).Abs() > maxSpread {
		return r, false
	}
	r.slept = time.Duration(c.slept.Load())
	if s := time.Duration(boot-c.boot) - r.passed; has && s-r.slept >= minSleep {
		r.slept = s
	}
	r.skew = wallThen - c.wall - int64(r.passed+r.slept)
	return r, true
}

// System returns the machine that the process runs on.
func System() Machine { return system{time.Now()} }

// WithWall returns a machine whose wall clock is ahead of another one's by a duration, for tests.
func WithWall(m Machine, by time.Duration) Machine { return shifted{m, by} }

type shifted struct {
	Machine
	by time.Duration
}

func (s shifted) Now() (int64, time.Duration) {
	wall, awake := s.Machine.Now()
	return wall + int64(s.by), awake
}

// system is the machine that the process runs on.
type system struct{ origin time.Time } // origin of its monotonic clock

func (s system) Now() (int64, time.Duration) {
	now := time.Now()
	return now.UnixNano(), now.Sub(s.origin)
}

// Boottime adds the sleep to the process's own time: both clocks of the machine continue while time stands still in a
// test.
func (s system) Boottime() (int64, bool) {
	slept, ok := asleep()
	return int64(time.Since(s.origin)) + slept, ok
}
