package clock

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// TestTTL35_DatesAtOnce: a date is converted by the machine's clocks at that moment, even if the clock was set or the
// machine slept since the last Look, and the next Look still reports the change; dates that leave the broker follow.
func TestTTL35_DatesAtOnce(t *testing.T) {
	const hour = time.Hour
	for _, row := range []struct {
		name       string
		do         func(*laptop)
		slept, set time.Duration
	}{
		{"nothing", func(*laptop) {}, 0, 0},
		{"set forwards", func(l *laptop) { l.set += hour }, 0, hour},
		{"set back", func(l *laptop) { l.set -= hour }, 0, -hour},
		{"set by fifty years", func(l *laptop) { l.set += 438_000 * hour }, 0, 438_000 * hour},
		{"asleep", func(l *laptop) { l.slept += hour }, hour, 0},
		{"asleep and set back by as much", func(l *laptop) { l.slept += hour; l.set -= hour }, hour, -hour},
		{"asleep, unseen", func(l *laptop) { l.slept += hour; l.blind = true }, 0, hour},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &laptop{start: time.Now()}
				c := Of(l)
				time.Sleep(hour)
				c.Look()
				turn := c.Dates()
				row.do(l)
				wall := func() int64 { return time.Now().Add(l.set + l.slept).UnixMilli() }
				if got := c.Wall(); got != wall() {
					t.Errorf("the date is %d, want %d", got, wall())
				}
				due := c.Deadline(wall() + 5000)
				if got := turn.Deadline(wall() + 5000); got != due {
					t.Errorf("due at %d in a turn, otherwise at %d", got, due)
				}
				if got := c.Date(due); got != wall()+5000 {
					t.Errorf("shown %d ms late", got-wall()-5000)
				}
				if slept, set := c.Look(); slept != row.slept || set != row.set {
					t.Errorf("slept %v, set by %v, want %v, %v", slept, set, row.slept, row.set)
				}
				if left := due - c.Now().Floor(); left != 5000 {
					t.Errorf("due in %d ms", left)
				}
				l.set += hour
				if again := c.Dates(); turn.Deadline(due) != due-row.set.Milliseconds() || again.Deadline(due) == turn.Deadline(due) {
					t.Error("the clocks were read twice in a turn, or not in the next")
				}
				l.set -= hour
				if got := c.Deadline(wall()); got != c.Now().Floor() {
					t.Errorf("set back again: %d ms away", got-c.Now().Floor())
				}
				if slept, set := c.Look(); slept != 0 || set != 0 {
					t.Errorf("finally slept %v, set by %v", slept, set)
				}
			})
		})
	}
}

// TestTTL35_DatesWhenDelayed: a reading that was delayed is repeated, and otherwise not used.
func TestTTL35_DatesWhenDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &laptop{start: time.Now(), readings: 1}
		c := Of(l)
		l.readings, l.behind = 0, 2*time.Second
		if at := c.Deadline(5000); at != 5000 || c.Skew() != 0 {
			t.Errorf("%d ms away", at-5000)
		}
	})
}

// TestShift_TTL35: dates at the ends of the range stay there.
func TestShift_TTL35(t *testing.T) {
	for _, skew := range []int64{-1000, 0, 1000} {
		d := Ahead(skew)
		for _, c := range [][2]int64{{math.MaxInt64, math.MaxInt64 - max(skew, 0)}, {math.MinInt64, math.MinInt64 - min(skew, 0)}, {5000, 5000 - skew}} {
			if got := d.Deadline(c[0]); got != c[1] {
				t.Errorf("%d ms ahead: %d becomes %d, want %d", skew, c[0], got, c[1])
			}
		}
		if got := d.Date(5000); got != 5000+skew {
			t.Errorf("%d ms ahead: 5000 is shown as %d", skew, got)
		}
	}
	var c Clock
	if c.skew.Store(-1); c.Skew() != -1 {
		t.Error("a date would be early")
	}
}

func BenchmarkDeadline(b *testing.B) {
	c := New()
	for b.Loop() {
		c.Deadline(1)
	}
}

func BenchmarkDates(b *testing.B) {
	c := New()
	for b.Loop() {
		d := c.Dates()
		d.Date(1)
	}
}

// TestContinue_CLU9: the clock of a cluster goes on with a time that no wall clock shows. Dates follow the wall clock, exactly from the
// beginning; the journal keeps the broker's time.
func TestContinue_CLU9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &laptop{start: time.Now()}
		c := Continue(m, func() int64 { return time.Now().Add(-300*time.Millisecond).UnixNano() + int64(time.Hour) })
		time.Sleep(time.Minute)
		now := time.Now().UnixMilli()
		if got := c.Now().Floor(); got != now-300+3_600_000 {
			t.Errorf("it is %d ms ahead", got-now)
		}
		if got := c.Wall(); got != now {
			t.Errorf("dates are %d ms ahead", got-now)
		}
		d := c.Dates()
		if at := d.Deadline(now); at != c.Now().Floor() || d.Kept() != 0 {
			t.Errorf("a date of now is %d ms away, the journal %d ms", at-c.Now().Floor(), d.Kept())
		}
		if slept, set := c.Look(); slept != 0 || set != 0 {
			t.Errorf("the first look finds a sleep of %v, a change of %v", slept, set)
		}
		alone := Of(m).Dates()
		m.set = time.Hour
		if alone.Read() != 3_600_000 || alone.Kept() != 3_600_000 {
			t.Errorf("a broker alone keeps dates, %d ms ahead", alone.Kept())
		}
	})
}
