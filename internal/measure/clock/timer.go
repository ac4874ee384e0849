package clock

import "time"

// Timer is a pending call. There is one for each queue that waits for a time.
type Timer struct {
	alarm  *timerQueue // nil if the runtime makes the call
	manual *manual     // makes the call if not nil
	f      func()
	at     time.Duration // from the alarm's base; of a test clock, since 1970
	coarse *time.Timer   // the runtime's timer, if that makes the call
	place  int32         // in the alarm's heap, under its lock
}

// Stop cancels the call. False means that it was already made, is being made, or was cancelled before.
func (t *Timer) Stop() bool {
	switch {
	case t.manual != nil:
		return t.manual.stop(t)
	case t.alarm == nil:
		return t.coarse.Stop()
	}
	return t.alarm.stop(t)
}

// At calls f when the wall-clock millisecond ms begins, at once if it has begun, and never early. f must not block. How
// late it is called depends on the system, and on other calls; see EnablePreciseTimers. Sleep of the machine adds to that
// (ADR 19).
func (c *Clock) At(ms int64, f func()) *Timer {
	if c.manual != nil {
		return c.manual.at(ms, f)
	}
	wait := max(c.Until(ms), 0)
	if c.alarm != nil {
		return c.alarm.after(wait, f)
	}
	return &Timer{coarse: time.AfterFunc(wait, f)}
}

// EnablePreciseTimers makes At precise to some hundredths of a millisecond on Linux, where the runtime's timers are up
// to 1 ms late (ADR 21). If calls were made in the 2 ms before, a call may be up to 1 ms late, so that fewer wakes serve
// them (ADR 144). It must be called before the clock is shared, and Close at the end. If it fails, At keeps its normal
// precision.
func (c *Clock) EnablePreciseTimers() error {
	if c.manual != nil {
		return c.manual.real.EnablePreciseTimers()
	}
	b, err := newWakeup()
	if b != nil {
		c.alarm = newTimerQueue(b)
	}
	return err
}

// CarryCalls makes calls of At within carry, which calls its argument and may help with the work that the calls cause. It
// has no effect without precise timers.
func (c *Clock) CarryCalls(carry func(calls func())) {
	if a := c.Real().alarm; a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.carry = carry
	}
}

// CallDue makes the calls of At that are due, so that nobody is woken for them. It takes some hundredths of a microsecond if
// there are none.
func (c *Clock) CallDue() {
	if a := c.Real().alarm; a != nil {
		a.look()
	}
}

// Close releases the resources of EnablePreciseTimers. Pending timers then use the runtime's timers.
func (c *Clock) Close() {
	if c := c.Real(); c.alarm != nil {
		c.alarm.end()
	}
}
