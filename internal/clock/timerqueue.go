package clock

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// near is from when on a call is the alarm's: more than the runtime's timers are late.
const near = 2 * time.Millisecond

// wakeup rings in so and so long.
type wakeup interface {
	// set makes it ring once, in d from now, instead of when it was to ring before.
	set(d time.Duration)
	// wait returns when it has rung since the last wait; false says that it never rings again.
	wait() bool
	close()
}

// timerQueue makes calls at their moment. The runtime's timers bring each one near, the wakeup fires for the first of those that are.
type timerQueue struct {
	wakeup wakeup
	base   time.Time     // what calls count from
	gone   chan struct{} // closed when the wakeup is not waited for any more

	mu    sync.Mutex
	calls calls
	ended bool
}

func newTimerQueue(b wakeup) *timerQueue {
	a := &timerQueue{wakeup: b, base: time.Now(), gone: make(chan struct{})}
	go a.run()
	return a
}

type stage uint8

const (
	far stage = iota
	pending
	over // made or called off
)

func (a *timerQueue) after(wait time.Duration, f func()) *Timer {
	c := &Timer{alarm: a, f: f, at: time.Since(a.base) + wait}
	if wait > near {
		c.coarse = time.AfterFunc(wait-near, func() { a.add(c) })
	} else {
		a.add(c)
	}
	return c
}

// stop calls one off, as Timer.Stop says.
func (a *timerQueue) stop(c *Timer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := c.stage
	c.stage = over
	switch was {
	case far:
		c.coarse.Stop()
	case pending:
		heap.Remove(&a.calls, c.place)
	case over:
	}
	return was != over
}

// add takes a call that is near.
func (a *timerQueue) add(c *Timer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case c.stage != far:
	case a.ended:
		c.stage = over
		a.leave(c)
	default:
		c.stage = pending
		if heap.Push(&a.calls, c); c.place == 0 {
			a.wakeup.set(c.at - time.Since(a.base))
		}
	}
}

// run makes the calls.
func (a *timerQueue) run() {
	defer close(a.gone)
	var due []*Timer
	for a.wakeup.wait() {
		due = a.due(due[:0])
		for _, c := range due {
			c.f()
		}
		clear(due)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, c := range a.calls {
		c.stage = over
		a.leave(c)
	}
	a.calls = nil
}

// leave leaves a call to the runtime.
func (a *timerQueue) leave(c *Timer) { time.AfterFunc(c.at-time.Since(a.base), c.f) }

// due takes out what is to be called now, by time, and sets the wakeup for the rest.
func (a *timerQueue) due(due []*Timer) []*Timer {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Since(a.base)
	for len(a.calls) > 0 && a.calls[0].at <= now {
		c := heap.Pop(&a.calls).(*Timer)
		c.stage = over
		due = append(due, c)
	}
	if len(a.calls) > 0 {
		a.wakeup.set(a.calls[0].at - now)
	}
	return due
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
	s[i].place, s[j].place = i, j
}

// Push and Pop are the heap's.
func (s *calls) Push(x any) {
	c := x.(*Timer)
	c.place = len(*s)
	*s = append(*s, c)
}

func (s *calls) Pop() any {
	last := len(*s) - 1
	c := (*s)[last]
	*s = slices.Delete(*s, last, last+1)
	return c
}
