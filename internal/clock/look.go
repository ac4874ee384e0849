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
// much its wall clock was set, which changes only Skew. It also detects pauses of the process, by the time since the last Look (Paused).
// One goroutine at a time may call it, every LookEvery.
func (c *Clock) Look() (slept, set time.Duration) {
	wall, awake := c.machine.Now()
	boot, has := c.machine.Boottime()
	passed := time.Since(c.base) // between the readings, so that it is as accurate
	wallThen, awakeThen := c.machine.Now()
	c.looked(passed, passed)
	took := awakeThen - awake
	if took > maxSpread || (time.Duration(wallThen-wall)-took).Abs() > maxSpread {
		return 0, 0 // delayed, set, or asleep between the readings: left to the next look
	}
	if known := time.Duration(c.slept.Load()); has {
		if s := time.Duration(boot-c.boot) - passed; s-known >= minSleep {
			slept = s - known
			c.slept.Store(int64(s))
		}
	}
	skew := wallThen - c.wall - int64(passed) - c.slept.Load()
	if by := time.Duration(skew - c.skew.Load()); by.Abs() >= minStep {
		set = by
		c.skew.Store(skew)
	}
	return slept, set
}

// system is the machine that the process runs on.
type system struct{ origin time.Time } // origin of its monotonic clock

func (s system) Now() (int64, time.Duration) {
	now := time.Now()
	return now.UnixNano(), now.Sub(s.origin)
}

func (system) Boottime() (int64, bool) { return bootReading() }
