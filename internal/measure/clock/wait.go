package clock

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

const (
	// LookEvery is the interval at which Look must be called for Ran to be correct.
	LookEvery = time.Second
	// maxGap is the maximum time since the last Look; more is a pause.
	maxGap = 2 * LookEvery
	// forever is the time of the last Look if no more will come: then no pause is noticed.
	forever = math.MaxInt64 - maxGap
)

// seen is the result of a Look for pauses of the process. It is not changed.
type seen struct {
	at     time.Duration // time of the Look, from the base
	paused time.Duration // total pause until then
}

// Paused returns how long the process was paused since the clock was made: stopped by a signal or by the hypervisor, so
// that none of its goroutines ran. 2 s of each pause are not counted, nor is anything before the first Look or after
// EndLooks. It never decreases.
func (c *Clock) Paused() time.Duration {
	s := c.seen.Load() // before the time is read
	return s.pausedBy(time.Since(c.base))
}

func (s *seen) pausedBy(now time.Duration) time.Duration {
	return s.paused + max(now-s.at-maxGap, 0)
}

// Ran returns how long the process has run since the clock was made: the time that has passed without Paused. Sleep of
// the machine is not included either. It never decreases.
func (c *Clock) Ran() time.Duration {
	s := c.seen.Load() // before the time is read
	now := time.Since(c.base)
	return now - s.pausedBy(now)
}

// looked records the pauses until now, which is passed after the base. next is the time that the next gap is measured
// from.
func (c *Clock) looked(passed, next time.Duration) {
	c.seen.Store(&seen{next, c.seen.Load().pausedBy(passed)})
}

// EndLooks ends the detection of pauses. The caller of Look calls it after the last Look.
func (c *Clock) EndLooks() { c.looked(time.Since(c.base), forever) }

// Wait is a call to be made after the process has run for a duration. Safe for concurrent use.
type Wait struct {
	clock *Clock
	f     func()
	mu    sync.Mutex
	until time.Duration // of Ran
	timer *time.Timer   // nil if the call was made or cancelled
}

// After calls f in its own goroutine when the process has run for d from now, never early: pauses of the process are
// added (ADR 33). It is for waiting for actors of the broker and for peers, not for times at which something is due.
func (c *Clock) After(d time.Duration, f func()) *Wait {
	w := &Wait{clock: c, f: f, until: c.Ran() + d}
	w.mu.Lock() // until the timer is known
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(d, w.fire)
	return w
}

func (w *Wait) fire() {
	if w.over() {
		w.f()
	}
}

// over reports whether the call is to be made. After a pause it waits for the remaining time instead.
func (w *Wait) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return false
	}
	if rest := w.until - w.clock.Ran(); rest > 0 {
		w.timer.Reset(rest)
		return false
	}
	w.timer = nil
	return true
}

// Stop cancels the call. False means that it was already made, is being made, or was cancelled before.
func (w *Wait) Stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return false
	}
	w.timer.Stop()
	w.timer = nil
	return true
}

// WithTimeout is like context.WithTimeout, but counts only time that the process runs. The context has no Deadline.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	w := c.After(d, func() { end(context.DeadlineExceeded) })
	return limited{ctx}, func() {
		w.Stop()
		end(nil)
	}
}

// limited is a context that a Wait may end.
type limited struct{ context.Context }

// Err implements context.Context.
func (l limited) Err() error {
	err := l.Context.Err()
	if err != nil && errors.Is(context.Cause(l.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
