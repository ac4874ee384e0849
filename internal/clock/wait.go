package clock

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

const (
	// LookEvery is how often Look is to be called for Ran to be right.
	LookEvery = time.Second
	// maxGap is how long ago the last Look may be: what is more is a pause.
	maxGap = 2 * LookEvery
	// forever is when the last Look was if none is to come: no pause is noticed then.
	forever = math.MaxInt64 - maxGap
)

// seen is the result of a Look for pauses of the process. It is not changed.
type seen struct {
	at     time.Duration // when that was, from the base
	paused time.Duration // until then
}

// Paused is for how long the process was paused since the clock was made: stopped by a signal or by the hypervisor, so
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

// looked notes what was paused until now, passed since the base. next is when the next Look counts from.
func (c *Clock) looked(passed, next time.Duration) {
	c.seen.Store(&seen{next, c.seen.Load().pausedBy(passed)})
}

// EndLooks says that nobody calls Look any more. It is called by who did so, after the last.
func (c *Clock) EndLooks() { c.looked(time.Since(c.base), forever) }

// Wait is a call that is to come after the process has run for so and so long. Safe for concurrent use.
type Wait struct {
	clock *Clock
	f     func()
	mu    sync.Mutex
	until time.Duration // of Ran
	timer *time.Timer   // nil: the call was made or called off
}

// After has f called in a goroutine of its own when the process has run for d from now, never early: what a pause of the process takes
// comes on top (ADR 33). It is for waits for the broker's own actors and for peers, not for what is due at a time.
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

// over reports whether the call is to be made. After a pause there is a rest to wait for.
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

// Stop calls it off. False says that the call was made already, is being made, or was called off before.
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

// WithTimeout is like that of package context, but the time that counts is the one that the process runs. The context has no Deadline.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	w := c.After(d, func() { end(context.DeadlineExceeded) })
	return limited{ctx}, func() {
		w.Stop()
		end(nil)
	}
}

// limited is a context whose end may be that of a Wait.
type limited struct{ context.Context }

// Err implements context.Context.
func (l limited) Err() error {
	err := l.Context.Err()
	if err != nil && errors.Is(context.Cause(l.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
