package clock

import (
	"math"
	"time"
)

// Dates converts between dates, in ms of the machine's wall clock, and the broker's time. An actor takes new Dates for
// each turn. The machine's clocks are read by the turn's first Deadline (TTL-35, ADR 116); Date alone reads none. The
// zero value stands for a wall clock that was never set.
type Dates struct {
	unread *Clock // to be read, nil if it has been
	skew   int64  // ms by which the wall clock is ahead
	within bool   // the journal has the broker's time
}

// Ahead returns the Dates of a wall clock that is skew ms ahead of the broker's time. It reads no clock.
func Ahead(skew int64) Dates { return Dates{skew: skew} }

// Dates returns the Dates for a turn that begins now.
func (c *Clock) Dates() Dates { return Dates{c, c.Skew(), c.cluster} }

// Deadline converts a date to the broker's time. A date too far away becomes the first or last time.
func (d *Dates) Deadline(date int64) int64 { return shift(date, -d.Read()) }

// Date converts a time of the broker to a date, by the last reading.
func (d *Dates) Date(at int64) int64 { return shift(at, d.skew) }

// Read reads the machine's clocks, unless that was done in this turn, and returns the skew in ms (Clock.Skew).
func (d *Dates) Read() int64 {
	if c := d.unread; c != nil {
		d.unread = nil
		_, d.skew = c.readAgain()
	}
	return d.skew
}

// Kept returns by how many ms the times in the journal are ahead of the broker's time: they are dates, but on a node of a cluster the
// broker's time, which other nodes go on with (CLU-9).
func (d *Dates) Kept() int64 {
	if d.within {
		return 0
	}
	return d.skew
}

// Skew returns the skew of the last reading, in ms.
func (d *Dates) Skew() int64 { return d.skew }

// Deadline converts a date, in ms of the machine's wall clock, to the broker's time.
func (c *Clock) Deadline(date int64) int64 {
	d := c.Dates()
	return d.Deadline(date)
}

// Date converts a time of the broker to a date, by the last reading of the wall clock (Skew).
func (c *Clock) Date(at int64) int64 { return shift(at, c.Skew()) }

// Wall returns the present date, in ms of the machine's wall clock, rounded down: with it dates are compared.
func (c *Clock) Wall() int64 {
	now, skew := c.readAgain()
	return now.Floor() + skew
}

// readAgain reads the machine's clocks. It returns the broker's time, including a sleep that Look has not noticed yet,
// and the skew, which applies to the whole broker from now on.
func (c *Clock) readAgain() (now Instant, skew int64) {
	if c.manual != nil {
		return c.Now(), 0
	}
	for range 3 { // a reading that was delayed is repeated
		if r, ok := c.look(); ok {
			c.adopt(r.skew)
			return Instant(c.wall + int64(r.passed+r.slept)), c.Skew()
		}
	}
	return c.Now(), c.Skew()
}

// adopt makes by, in ns, the skew if it differs enough from the present one.
func (c *Clock) adopt(by int64) {
	if was := c.skew.Load(); time.Duration(by-was).Abs() >= minStep {
		c.skew.CompareAndSwap(was, by)
	}
}

// shift returns ms + by, or the first or last time.
func shift(ms, by int64) int64 {
	switch {
	case by > 0 && ms > math.MaxInt64-by:
		return math.MaxInt64
	case by < 0 && ms < math.MinInt64-by:
		return math.MinInt64
	}
	return ms + by
}
