package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// laptop is a machine in virtual time whose wall clock can be set and that can be suspended.
type laptop struct {
	start      time.Time
	set, slept time.Duration
	blind      bool          // has no clock that counts time asleep
	between    time.Duration // time before each reading
	readings   int
	behind     time.Duration // time after every second reading
}

func (l *laptop) Now() (int64, time.Duration) {
	time.Sleep(l.between)
	now := time.Now()
	if l.readings++; l.readings%2 == 0 {
		time.Sleep(l.behind)
	}
	return now.Add(l.set + l.slept).UnixNano(), now.Sub(l.start)
}

func (l *laptop) Boottime() (int64, bool) {
	return int64(time.Since(l.start) + l.slept), !l.blind
}

// delayed is a machine whose first readings take 2 ms each.
type delayed struct{ readings int }

func (d *delayed) Now() (int64, time.Duration) {
	pause := time.Duration(0)
	if d.readings--; d.readings >= 0 {
		pause = time.Millisecond
	}
	time.Sleep(pause)
	now := time.Now()
	time.Sleep(pause)
	return now.UnixNano(), 0
}

func (*delayed) Boottime() (int64, bool) { return 0, false }

// The clock is never ahead of the wall clock, even if the process is paused while it takes the base reading: otherwise
// messages with a date would be early until a restart. Slow readings are repeated for precision.
func TestBaseReading_PRO13(t *testing.T) {
	for readings, behind := range map[int]time.Duration{0: 0, 1: 0, 3: 0, 1000: time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c := Of(&delayed{readings})
			if by := time.Duration(time.Now().UnixNano() - int64(c.Now())); by != behind {
				t.Errorf("%d slow readings: %v behind the wall clock, want %v", readings, by, behind)
			}
		})
	}
}

// Setting the wall clock changes only Skew; time asleep advances the clock by as much (TTL-35).
func TestTTL35_Look(t *testing.T) {
	const hour = time.Hour
	for _, row := range []struct {
		name       string
		do         func(*laptop)
		slept, set time.Duration
	}{
		{"nothing", func(*laptop) {}, 0, 0},
		{"set forwards", func(l *laptop) { l.set += hour }, 0, hour},
		{"set back", func(l *laptop) { l.set -= hour }, 0, -hour},
		{"set by ten years", func(l *laptop) { l.set += 87_600 * hour }, 0, 87_600 * hour},
		{"adjusted by less than a second", func(l *laptop) { l.set += 900 * time.Millisecond }, 0, 0},
		{"asleep", func(l *laptop) { l.slept += hour }, hour, 0},
		{"dozing", func(l *laptop) { l.slept += 99 * time.Millisecond }, 0, 0},
		{"asleep and set", func(l *laptop) { l.slept += hour; l.set -= 2 * hour }, hour, -2 * hour},
		{"asleep, unseen", func(l *laptop) { l.slept += hour; l.blind = true }, 0, hour},
		{"held up while looking", func(l *laptop) { l.slept += hour; l.set += hour; l.between = maxSpread + 1 }, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &laptop{start: time.Now()}
				c := Of(l)
				began := c.Now()
				time.Sleep(hour)
				if slept, set := c.Look(); slept != 0 || set != 0 {
					t.Fatalf("before: slept %v, set by %v", slept, set)
				}
				row.do(l)
				slept, set := c.Look()
				if slept != row.slept || set != row.set {
					t.Errorf("slept %v, set by %v, want %v, %v", slept, set, row.slept, row.set)
				}
				now, all := c.Read()
				if passed := time.Duration(now-began) - 2*l.between; passed != hour+row.slept || all != row.slept {
					t.Errorf("%v have passed, %v asleep", passed, all)
				}
				if got := c.Skew(); got != row.set.Milliseconds() {
					t.Errorf("skew %d ms", got)
				}
				if slept, set := c.Look(); slept != 0 || set != 0 {
					t.Errorf("again: slept %v, set by %v", slept, set)
				}
			})
		})
	}
}

// A pause after the readings is not mistaken for a set clock (TTL-35).
func TestTTL35_HeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &laptop{start: time.Now(), readings: 1}
		c := Of(l)
		l.readings, l.behind = 0, 2*time.Second
		for range 3 {
			if slept, set := c.Look(); slept != 0 || set != 0 || c.Skew() != 0 {
				t.Errorf("slept %v, set by %v, %d ms ahead", slept, set, c.Skew())
			}
		}
	})
}

// Short sleeps add up, and a clock that is set back again has no skew (TTL-35).
func TestTTL35_AddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &laptop{start: time.Now()}
		c := Of(l)
		var slept time.Duration
		for range 100 {
			time.Sleep(time.Second)
			l.slept += 60 * time.Millisecond
			s, set := c.Look()
			if slept += s; set != 0 {
				t.Fatalf("set by %v", set)
			}
		}
		if slept != l.slept {
			t.Errorf("slept %v of %v", slept, l.slept)
		}
		for _, by := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
			l.set += by
			if _, set := c.Look(); set != by {
				t.Errorf("set by %v, want %v", set, by)
			}
		}
		if c.Skew() != 0 {
			t.Errorf("skew %d ms in the end", c.Skew())
		}
	})
}

// On the real machine no sleep and no set clock is reported while the test runs.
func TestTTL35_System(t *testing.T) {
	c := New()
	for range 10 {
		if slept, set := c.Look(); slept != 0 || set != 0 {
			t.Errorf("slept %v, set by %v", slept, set)
		}
	}
	if away := time.Now().UnixNano() - int64(c.Now()); away < -int64(time.Second) || away > int64(time.Second) {
		t.Errorf("%d ns away", away)
	}
}
