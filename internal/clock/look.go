package clock

import "time"

const (
	// leastSleep is the shortest sleep that is taken for one; shorter ones add up.
	leastSleep = 100 * time.Millisecond
	// leastStep is by how much the machine's wall clock must be away from where it is thought to be, to have been set.
	// Gradual adjustments also affect the monotonic clock.
	leastStep = time.Second
	// blur is how long a look may take, or how unlike two of its readings may be, to be believed.
	blur = 10 * time.Millisecond
)

// Machine is the source of a clock's time.
type Machine interface {
	// Now returns the wall clock, in ns since 1970, and the process's monotonic clock at the same moment, from wherever
	// it counts.
	Now() (wall int64, awake time.Duration)
	// Ever returns a clock like the monotonic one, that goes on while the machine sleeps, in ns from wherever it
	// counts; false if there is none.
	Ever() (ns int64, ok bool)
}

// Look compares the machine's clocks with each other. It returns how long the machine has slept that was not known before, by which the
// present has leapt now, and by how much its wall clock was set, which moves Skew and nothing else. It also notices pauses of the
// process, by the time since the last Look (Paused). One goroutine at a time may call it, every LookEvery.
func (c *Clock) Look() (slept, set time.Duration) {
	wall, awake := c.machine.Now()
	ever, has := c.machine.Ever()
	passed := time.Since(c.base) // in the midst of the readings, so that it is as good as they are
	wallThen, awakeThen := c.machine.Now()
	c.looked(passed, passed)
	took := awakeThen - awake
	if took > blur || (time.Duration(wallThen-wall)-took).Abs() > blur {
		return 0, 0 // held up, or set, or asleep, right between the readings: the next look will tell
	}
	if known := time.Duration(c.slept.Load()); has {
		if s := time.Duration(ever-c.ever) - passed; s-known >= leastSleep {
			slept = s - known
			c.slept.Store(int64(s))
		}
	}
	skew := wallThen - c.wall - int64(passed) - c.slept.Load()
	if by := time.Duration(skew - c.skew.Load()); by.Abs() >= leastStep {
		set = by
		c.skew.Store(skew)
	}
	return slept, set
}

// system is the machine that the process runs on.
type system struct{ origin time.Time } // where its monotonic clock counts from

func (s system) Now() (int64, time.Duration) {
	now := time.Now()
	return now.UnixNano(), now.Sub(s.origin)
}

func (system) Ever() (int64, bool) { return bootReading() }
