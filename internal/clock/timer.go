package clock

import "time"

// Timer is a call that is to come. There is one for each queue that waits for something.
type Timer struct {
	alarm  *timerQueue // nil: the runtime makes the call
	f      func()
	at     time.Duration // from the alarm's base
	coarse *time.Timer   // the runtime's, if that makes the call
	place  int32         // in the alarm's heap, under its lock
}

// Stop calls it off. False says that it was made already, is being made, or was called off before.
func (t *Timer) Stop() bool {
	if t.alarm == nil {
		return t.coarse.Stop()
	}
	return t.alarm.stop(t)
}

// At has f called when the wall-clock millisecond ms begins, at once when it has begun, and never early. It must not
// block. How late it may be is up to the system; see EnablePreciseTimers. Sleep of the machine adds to that (ADR 19).
func (c *Clock) At(ms int64, f func()) *Timer {
	wait := max(c.Until(ms), 0)
	if c.alarm != nil {
		return c.alarm.after(wait, f)
	}
	return &Timer{coarse: time.AfterFunc(wait, f)}
}

// EnablePreciseTimers makes At punctual to some hundredths of a millisecond where the runtime's timers are up to one late, which is on Linux (ADR 21).
// It is to be called before anybody else has the clock, and Close at the end. Where it fails, At is as it was.
func (c *Clock) EnablePreciseTimers() error {
	b, err := newWakeup()
	if b != nil {
		c.alarm = newTimerQueue(b)
	}
	return err
}

// Close releases the resources of EnablePreciseTimers. Pending timers then use the runtime's timers.
func (c *Clock) Close() {
	if c.alarm != nil {
		c.alarm.end()
	}
}
