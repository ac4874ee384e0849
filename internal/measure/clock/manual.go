package clock

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// manual is the time of a test clock (CLK-2). It stands still, or passes at a speed, and is moved forwards only.
type manual struct {
	real *Clock
	pace atomic.Pointer[pace]

	mu    sync.Mutex
	calls calls  // by broker time, in ns since 1970
	rings *Timer // the real timer of the first call while time passes; nil if none is set
}

// pace is how the time of a test clock passes since a moment. It is not changed.
type pace struct {
	at    Instant // the clock's time at that moment
	since Instant // the moment, in real time
	speed float64 // 0 if time stands still
}

// NewManual returns a test clock: its time stands still at the given one until it is moved (Set) or runs (Run). Real is
// the machine's clock.
func NewManual(at time.Time) *Clock {
	c := New()
	m := &manual{real: New()}
	m.pace.Store(&pace{at: Instant(at.UnixNano())})
	c.manual = m
	return c
}

// Real returns the clock of what tests never move (CLK-4): c itself, or the machine's clock if c is a test clock.
func (c *Clock) Real() *Clock {
	if c.manual != nil {
		return c.manual.real
	}
	return c
}

// Manual reports whether c is a test clock. The methods below are for test clocks only.
func (c *Clock) Manual() bool { return c.manual != nil }

// Apart returns how far the machine's time is ahead of the broker's time: 0 unless c is a test clock.
func (c *Clock) Apart() time.Duration {
	if c.manual == nil {
		return 0
	}
	return time.Duration(c.manual.real.Now() - c.manual.now())
}

// Speed returns how fast time passes, 0 if it stands still.
func (c *Clock) Speed() float64 { return c.manual.pace.Load().speed }

// NextCall returns when the first pending call is due; false if there is none.
func (c *Clock) NextCall() (Instant, bool) {
	m := c.manual
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.calls) == 0 {
		return 0, false
	}
	return Instant(m.calls[0].at), true
}

// Set moves the clock to a time, unless it shows a later one, and makes the calls that are due then, in the order of their times.
func (c *Clock) Set(to Instant) { c.manual.change(to, c.Speed()) }

// Run makes time pass at a speed from now on: 1 is the machine's, 0 stands still.
func (c *Clock) Run(speed float64) { c.manual.change(math.MinInt64, speed) }

// change sets the clock to a time, unless it shows a later one, and its speed, and makes the calls due.
func (m *manual) change(to Instant, speed float64) {
	m.mu.Lock()
	m.pace.Store(&pace{max(to, m.now()), m.real.Now(), speed})
	due := m.take()
	m.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

func (m *manual) now() Instant {
	p := m.pace.Load()
	if p.speed == 0 {
		return p.at
	}
	passed := float64(m.real.Now()-p.since) * p.speed
	if passed >= float64(math.MaxInt64-int64(p.at)) {
		return math.MaxInt64
	}
	return p.at + Instant(passed)
}

// take removes and returns the calls due, and sets the real timer for the others. mu is held.
func (m *manual) take() (due []*Timer) {
	now := int64(m.now())
	for len(m.calls) > 0 && int64(m.calls[0].at) <= now {
		due = append(due, heap.Pop(&m.calls).(*Timer))
	}
	m.ring()
	return due
}

// ring sets the real timer for the first call, if time passes. mu is held.
func (m *manual) ring() {
	if m.rings != nil {
		m.rings.Stop()
		m.rings = nil
	}
	p := m.pace.Load()
	if p.speed == 0 || len(m.calls) == 0 {
		return
	}
	const long = float64(time.Hour) // a longer wait is divided
	wait := min(float64(int64(m.calls[0].at)-int64(m.now()))/p.speed, long)
	at := m.real.Now() + Instant(max(wait, 0)) + 1
	m.rings = m.real.At(at.Ceil(), func() { m.change(math.MinInt64, m.pace.Load().speed) })
}

// at is Clock.At.
func (m *manual) at(ms int64, f func()) *Timer {
	const maxMillis = math.MaxInt64 / int64(time.Millisecond)
	t := &Timer{manual: m, f: f, at: time.Duration(min(ms, maxMillis)) * time.Millisecond, place: over}
	m.mu.Lock()
	if Instant(t.at) <= m.now() {
		m.mu.Unlock()
		f()
		return t
	}
	if heap.Push(&m.calls, t); t.place == 0 {
		m.ring()
	}
	m.mu.Unlock()
	return t
}

// stop is Timer.Stop.
func (m *manual) stop(t *Timer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.place == over {
		return false
	}
	heap.Remove(&m.calls, int(t.place))
	return true
}
