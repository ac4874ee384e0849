package clock

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// wakeup is a timer that rings after a duration.
type wakeup interface {
	// set makes it ring once, d from now, which replaces an earlier setting.
	set(d time.Duration)
	// wait returns when it has rung since the last wait; false means that it never rings again.
	wait() bool
	close()
}

// timerQueue makes calls at their times: the wakeup rings for the first of them. There may be many long-waiting calls:
// each is one small object, a third of the size of a runtime timer.
type timerQueue struct {
	wakeup wakeup
	base   time.Time     // origin of the times of calls
	gone   chan struct{} // closed when run has ended

	mu    sync.Mutex
	calls calls
	rings time.Duration // when the wakeup rings, 0 if it is not set
	ended bool
}

func newTimerQueue(b wakeup) *timerQueue {
	a := &timerQueue{wakeup: b, base: time.Now(), gone: make(chan struct{})}
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
		a.ringAt(c.at)
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
	return true
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
		a.leave(c)
	}
	a.calls = nil
}

// leave leaves a call to the runtime.
func (a *timerQueue) leave(c *Timer) {
	c.place = over
	c.coarse = time.AfterFunc(c.at-time.Since(a.base), c.f)
}

// due removes and returns the calls due now, by time, and sets the wakeup for the others.
func (a *timerQueue) due(due []*Timer) []*Timer {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Since(a.base)
	a.rings = 0
	for len(a.calls) > 0 && a.calls[0].at <= now {
		due = append(due, heap.Pop(&a.calls).(*Timer))
	}
	if len(a.calls) > 0 {
		a.ringAt(a.calls[0].at)
	}
	return due
}

// ringAt makes sure that the wakeup rings at that time or earlier; if earlier, it is set again then.
func (a *timerQueue) ringAt(at time.Duration) {
	if a.rings == 0 || at < a.rings {
		a.rings = at
		a.wakeup.set(at - time.Since(a.base))
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
