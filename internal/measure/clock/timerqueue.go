package clock

import (
	"container/heap"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// slack is by how much a call may be late so that one wake serves several calls.
	slack = time.Millisecond
	// apart is the time between two wakes if the slack permits it.
	apart = 2 * slack
	// never is the time of the first call if there is none.
	never = math.MaxInt64
)

// wakeup is a timer that rings after a duration.
type wakeup interface {
	// set makes it ring once, d from now, which replaces an earlier setting.
	set(d time.Duration)
	// wait returns when it has rung since the last wait; false means that it never rings again.
	wait() bool
	close()
}

// timerQueue makes calls at their times, or up to slack later: the wakeup rings for the first of them, unless a goroutine
// that is awake for another reason makes them before (ADR 144). There may be many long-waiting calls: each is one small
// object, a third of the size of a runtime timer.
type timerQueue struct {
	wakeup wakeup
	base   time.Time     // origin of the times of calls
	gone   chan struct{} // closed when run has ended
	first  atomic.Int64  // time of the first call
	looked atomic.Int64  // when somebody last looked for due calls

	mu    sync.Mutex
	calls calls
	rings time.Duration // when the wakeup rings, 0 if it is not set
	carry func(func())  // makes calls, and may help with the work that they cause
	ended bool
}

func newTimerQueue(b wakeup) *timerQueue {
	a := &timerQueue{wakeup: b, base: time.Now(), gone: make(chan struct{}), carry: func(calls func()) { calls() }}
	a.looked.Store(int64(-apart))
	a.noteFirst()
	go a.run()
	return a
}

// over is the place of a call that was made, cancelled, or left to the runtime.
const over = -1

func (a *timerQueue) after(wait time.Duration, f func()) *Timer {
	c := &Timer{alarm: a, f: f, at: time.Since(a.base) + wait}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.leave(c)
	} else if heap.Push(&a.calls, c); c.place == 0 {
		a.ring()
	}
	return c
}

// stop is Timer.Stop for a call of the queue.
func (a *timerQueue) stop(c *Timer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.place == over {
		return c.coarse != nil && c.coarse.Stop()
	}
	heap.Remove(&a.calls, int(c.place))
	a.noteFirst()
	return true
}

// run makes the calls that nobody else has made.
func (a *timerQueue) run() {
	defer close(a.gone)
	for a.wakeup.wait() {
		a.mu.Lock()
		carry := a.carry
		a.mu.Unlock()
		carry(a.call)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, c := range a.calls {
		a.leave(c)
	}
	a.calls = nil
	a.noteFirst()
}

// leave leaves a call to the runtime.
func (a *timerQueue) leave(c *Timer) {
	c.place = over
	c.coarse = time.AfterFunc(c.at-time.Since(a.base), c.f)
}

// look makes the calls that are due, on a goroutine that is awake for another reason.
func (a *timerQueue) look() {
	first := a.first.Load()
	if first == never {
		return
	}
	now := int64(time.Since(a.base))
	a.looked.Store(now)
	if first <= now {
		a.call()
	}
}

// call makes the calls that are due now, by time.
func (a *timerQueue) call() {
	for _, c := range a.due() {
		c.f()
	}
}

// due removes and returns the calls due now, and sets the wakeup for the others.
func (a *timerQueue) due() (due []*Timer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Since(a.base)
	a.looked.Store(int64(now))
	for len(a.calls) > 0 && a.calls[0].at <= now {
		due = append(due, heap.Pop(&a.calls).(*Timer))
	}
	if len(due) > 0 || a.rings <= now {
		a.rings = 0 // what was set has rung, or is replaced
	}
	a.ring()
	return due
}

// ring makes sure that the wakeup rings for the first call: at its time if nobody has looked shortly before, otherwise
// up to slack later. mu is held.
func (a *timerQueue) ring() {
	a.noteFirst()
	if len(a.calls) == 0 {
		return
	}
	at := a.calls[0].at
	at = max(at, min(at+slack, time.Duration(a.looked.Load())+apart))
	if a.rings == 0 || at < a.rings {
		a.rings = at
		a.wakeup.set(at - time.Since(a.base))
	}
}

// noteFirst notes the time of the first call. mu is held.
func (a *timerQueue) noteFirst() {
	if len(a.calls) == 0 {
		a.first.Store(never)
	} else {
		a.first.Store(int64(a.calls[0].at))
	}
}

func (a *timerQueue) end() {
	a.wakeup.close()
	<-a.gone
}

// calls is a heap by time.
type calls []*Timer

func (s calls) Len() int           { return len(s) }
func (s calls) Less(i, j int) bool { return s[i].at < s[j].at }

func (s calls) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = int32(i), int32(j)
}

// Push and Pop implement heap.Interface.
func (s *calls) Push(x any) {
	c := x.(*Timer)
	c.place = int32(len(*s))
	*s = append(*s, c)
}

func (s *calls) Pop() any {
	last := len(*s) - 1
	c := (*s)[last]
	*s = slices.Delete(*s, last, last+1)
	c.place = over
	return c
}
