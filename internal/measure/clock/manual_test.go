package clock

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var newYear = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// TestManualStands_CLK2: the time stands still, is only moved forwards, and calls are made by it alone.
func TestManualStands_CLK2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewManual(newYear)
		start := c.Now()
		var made []string
		call := func(name string) func() { return func() { made = append(made, name) } }
		at := func(ms int64) int64 { return start.Floor() + ms }
		c.At(at(20), call("20"))
		c.At(at(10), call("10"))
		stopped := c.At(at(15), call("15"))
		c.At(at(0), call("now"))
		if !stopped.Stop() || stopped.Stop() {
			t.Error("a pending call stops once")
		}
		time.Sleep(time.Hour)
		if c.Now() != start || c.Wall() != at(0) || !slices.Equal(made, []string{"now"}) {
			t.Errorf("%v later: %v", c.Now()-start, made)
		}
		if next, ok := c.NextCall(); !ok || next.Floor() != at(10) {
			t.Error(next, ok)
		}
		c.Set(start + Instant(20*time.Millisecond) - 1)
		if !slices.Equal(made, []string{"now", "10"}) {
			t.Error(made)
		}
		c.Set(start + Instant(time.Second))
		c.Set(start)
		if c.Now() != start+Instant(time.Second) || !slices.Equal(made, []string{"now", "10", "20"}) {
			t.Errorf("%v later: %v", c.Now()-start, made)
		}
		if _, ok := c.NextCall(); ok {
			t.Error("a call is left")
		}
		if passed := c.Real().Now() - Instant(time.Now().UnixNano()); passed.Floor() != 0 || c.Apart() == 0 {
			t.Error("the machine's clock is not the real one", passed)
		}
	})
}

// TestManualRuns_CLK2: at a speed, time passes and calls are made, never early; frozen again, it stands.
func TestManualRuns_CLK2(t *testing.T) {
	for _, speed := range []float64{0.001, 1, 60, 1e6} {
		synctest.Test(t, func(t *testing.T) {
			c := NewManual(newYear)
			start, real := c.Now(), time.Now()
			var mu sync.Mutex // calls come from timers of their own
			var made []time.Duration
			for _, ms := range []int64{90, 30, 90_000, 30} {
				due := start.Floor() + ms
				c.At(due, func() {
					if c.Now().Floor() < due {
						t.Errorf("%d ms early", due-c.Now().Floor())
					}
					mu.Lock()
					made = append(made, time.Since(real))
					mu.Unlock()
				})
			}
			c.Run(speed)
			time.Sleep(time.Duration(float64(100*time.Second)/speed) + 2*time.Millisecond)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(made) != 4 || !slices.IsSorted(made) {
				t.Fatalf("speed %v: %v", speed, made)
			}
			if want := time.Duration(90 * float64(time.Second) / speed); made[3] < want || made[3] > want+2*time.Millisecond {
				t.Errorf("speed %v: the last call after %v, expected %v", speed, made[3], want)
			}
			c.Run(0)
			stands := c.Now()
			time.Sleep(time.Hour)
			if c.Now() != stands || stands-start < Instant(100*time.Second)-Instant(time.Second) {
				t.Errorf("speed %v: %v", speed, time.Duration(stands-start))
			}
		})
	}
}

// TestManualOverflow: the time does not wrap around.
func TestManualOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewManual(newYear)
		c.Run(1e6)
		time.Sleep(5000 * time.Hour)
		if now := c.Now(); now < Instant(newYear.UnixNano()) {
			t.Error(now)
		}
		c.Run(0)
	})
}

// TestRealOfMachine: a clock that is no test clock is its own real one.
func TestRealOfMachine(t *testing.T) {
	if c := New(); c.Real() != c || c.Apart() != 0 || c.Manual() {
		t.Error("it is another")
	}
}
