package clock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// runFor lets d, whole seconds, pass with a Look in each second.
func (c *Clock) runFor(d time.Duration) {
	for range d / time.Second {
		time.Sleep(time.Second)
		c.Look()
	}
	synctest.Wait()
}

// pauseFor lets d pass without a Look, as if the process were stopped.
func (c *Clock) pauseFor(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// waiting runs test with a clock after its first Look, and a wait of 30 s.
func waiting(t *testing.T, test func(t *testing.T, c *Clock, w *Wait, called *atomic.Bool)) {
	synctest.Test(t, func(t *testing.T) {
		c := Of(&laptop{start: time.Now()})
		c.runFor(time.Second)
		var called atomic.Bool
		test(t, c, c.After(30*time.Second, func() { called.Store(true) }), &called)
	})
}

func TestWait(t *testing.T) {
	for _, row := range []struct {
		name string
		// The process runs for before, is paused, and runs again until the call.
		before, pause, rest time.Duration
	}{
		{"no pause", 10 * time.Second, 0, 20 * time.Second},
		{"at once", 0, time.Hour, 28 * time.Second},
		{"shorter than what is left", 10 * time.Second, 15 * time.Second, 18 * time.Second},
		{"longer than all", 10 * time.Second, time.Minute, 18 * time.Second},
		{"for days", 20 * time.Second, 100 * time.Hour, 8 * time.Second},
		{"too short to be one", 10 * time.Second, 2 * time.Second, 18 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			waiting(t, func(t *testing.T, c *Clock, _ *Wait, called *atomic.Bool) {
				c.runFor(row.before)
				c.pauseFor(row.pause)
				c.Look()
				c.runFor(row.rest - time.Second)
				if called.Load() {
					t.Fatal("early")
				}
				c.runFor(time.Second)
				if !called.Load() {
					t.Error("late")
				}
				if paused := max(row.pause-2*time.Second, 0); c.Paused() != paused || c.Ran() != 31*time.Second {
					t.Errorf("ran %v, paused %v", c.Ran(), c.Paused())
				}
			})
		})
	}
}

// Each of many pauses counts for at most 2 s.
func TestWaitManyPauses(t *testing.T) {
	waiting(t, func(t *testing.T, c *Clock, _ *Wait, called *atomic.Bool) {
		for range 9 {
			c.pauseFor(time.Minute)
			c.Look()
			c.runFor(time.Second)
		}
		if called.Load() || c.Ran() != 28*time.Second {
			t.Errorf("called %v, ran %v", called.Load(), c.Ran())
		}
		c.runFor(3 * time.Second)
		if !called.Load() {
			t.Error("not called")
		}
	})
}

// Without Looks all time counts.
func TestWaitWithoutLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var called atomic.Int32
		c.After(time.Hour, func() { called.Add(1) })
		time.Sleep(time.Hour)
		synctest.Wait()
		c.Look()
		c.pauseFor(time.Hour)
		c.EndLooks()
		ran := c.Ran()
		c.After(time.Hour, func() { called.Add(1) })
		time.Sleep(time.Hour)
		synctest.Wait()
		if called.Load() != 2 || ran != time.Hour+2*time.Second || c.Ran() != ran+time.Hour {
			t.Errorf("%d calls, ran %v, then %v", called.Load(), ran, c.Ran())
		}
	})
}

func TestWaitStop(t *testing.T) {
	waiting(t, func(t *testing.T, c *Clock, w *Wait, called *atomic.Bool) {
		c.pauseFor(time.Minute) // longer than the wait, but paused time does not count
		c.Look()
		if !w.Stop() || w.Stop() {
			t.Error("what Stop says")
		}
		c.runFor(time.Minute)
		if called.Load() {
			t.Error("called")
		}
		w = c.After(0, func() { called.Store(true) })
		synctest.Wait()
		if !called.Load() || w.Stop() {
			t.Error("not called at once")
		}
	})
}

func TestWithTimeout(t *testing.T) {
	waiting(t, func(t *testing.T, c *Clock, _ *Wait, _ *atomic.Bool) {
		ctx, cancel := c.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		inner, cancelInner := c.WithTimeout(ctx, time.Hour)
		defer cancelInner()
		c.pauseFor(time.Minute)
		c.Look()
		if ctx.Err() != nil || inner.Err() != nil {
			t.Error("ended by the pause")
		}
		c.runFor(28 * time.Second)
		for _, x := range []context.Context{ctx, inner} {
			if <-x.Done(); !errors.Is(x.Err(), context.DeadlineExceeded) {
				t.Error(x.Err())
			}
		}
		other, cancelOther := c.WithTimeout(t.Context(), time.Second)
		cancelOther()
		if other.Err() != context.Canceled {
			t.Error(other.Err())
		}
	})
}
