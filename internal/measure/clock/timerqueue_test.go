package clock

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// virtualTimer is a wakeup in the virtual time of a bubble.
type virtualTimer struct {
	rings chan struct{}
	gone  chan struct{}
	timer *time.Timer
	woken atomic.Int32 // how often wait has returned
}

func (b *virtualTimer) set(d time.Duration) {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(d, func() {
		select {
		case b.rings <- struct{}{}:
		default:
		}
	})
}

func (b *virtualTimer) wait() bool {
	select {
	case <-b.rings:
		b.woken.Add(1)
		return true
	case <-b.gone:
		return false
	}
}

func (b *virtualTimer) close() { close(b.gone) }

// inTime runs test with a clock whose timer queue uses a virtualTimer.
func inTime(t *testing.T, test func(t *testing.T, c *Clock)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(123_456 * time.Nanosecond) // virtual: moves the bubble's clock off a whole ms
		c := New()
		c.alarm = newTimerQueue(&virtualTimer{rings: make(chan struct{}, 1), gone: make(chan struct{})})
		test(t, c)
	})
}

// TTL-31: a call is made within a millisecond after the beginning of its own and never before it, for calls scheduled and
// stopped in any order.
func TestAt_Random(t *testing.T) {
	for seed := range uint64(50) {
		inTime(t, func(t *testing.T, c *Clock) {
			defer c.Close()
			r := rand.New(rand.NewPCG(seed, 0))
			start := c.Now().Floor()
			made, want := [200]atomic.Int32{}, [200]int32{}
			for i := range made {
				ms := start + r.Int64N(20)
				due := max(c.Now(), Instant(ms*int64(time.Millisecond)))
				timer := c.At(ms, func() {
					made[i].Add(1)
					if late := time.Duration(c.Now() - due); late < 0 || late > slack {
						t.Errorf("seed %d: call %d came %v late", seed, i, late)
					}
				})
				time.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				synctest.Wait()
				if want[i] = 1; r.IntN(3) == 0 {
					want[i] = made[i].Load()
					if stopped := timer.Stop(); stopped != (want[i] == 0) || timer.Stop() {
						t.Errorf("seed %d: call %d, made %d times, was called off: %v", seed, i, want[i], stopped)
					}
				}
			}
			time.Sleep(time.Second)
			synctest.Wait()
			for i := range made {
				if n := made[i].Load(); n != want[i] {
					t.Errorf("seed %d: call %d was made %d times, want %d", seed, i, n, want[i])
				}
			}
		})
	}
}

// A call after a pause is made at its time; calls that follow each other closely share wakes.
func TestAt_Shared(t *testing.T) {
	inTime(t, func(t *testing.T, c *Clock) {
		defer c.Close()
		start := c.Now().Floor()
		var late [20]time.Duration
		for i := range late {
			at := start + 50 + int64(i)
			c.At(at, func() { late[i] = time.Duration(int64(c.Now()) - at*int64(time.Millisecond)) })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i, l := range late {
			if want := time.Duration(i%2) * slack; l != want { // the first is at its time, then two share a wake
				t.Errorf("call %d came %v late, want %v", i, l, want)
			}
		}
		if n := c.alarm.wakeup.(*virtualTimer).woken.Load(); n != 11 {
			t.Errorf("%d wakes for 20 calls", n)
		}
	})
}

// CallDue makes the calls that are due, so that the wakeup has hardly anything to do.
func TestCallDue(t *testing.T) {
	inTime(t, func(t *testing.T, c *Clock) {
		defer c.Close()
		start, made := c.Now().Floor(), atomic.Int32{}
		for i := range int64(100) {
			c.At(start+10+i, func() { made.Add(1) })
		}
		for range 200 {
			time.Sleep(900 * time.Microsecond)
			c.CallDue()
		}
		if n, calls := c.alarm.wakeup.(*virtualTimer).woken.Load(), made.Load(); calls != 100 || n > 2 {
			t.Errorf("%d of 100 calls were made, with %d wakes", calls, n)
		}
	})
}

// CarryCalls: calls are made within the function.
func TestCarryCalls(t *testing.T) {
	inTime(t, func(t *testing.T, c *Clock) {
		defer c.Close()
		within := false
		c.CarryCalls(func(calls func()) {
			within = true
			calls()
			within = false
		})
		made := make(chan bool)
		c.At(c.Now().Ceil()+5, func() { made <- within })
		if !<-made {
			t.Error("the call was made by itself")
		}
	})
}

// Pending calls are still made when the wakeup is closed.
func TestAt_Close(t *testing.T) {
	inTime(t, func(t *testing.T, c *Clock) {
		made := make(chan string, 2)
		start := c.Now().Ceil()
		for _, ms := range []int64{1, 500} { // short and long
			c.At(start+ms, func() { made <- fmt.Sprint(ms, " ", c.Now().Floor()-start) })
		}
		off := c.At(start+400, func() { t.Error("a call was made that was called off") })
		c.Close()
		synctest.Wait()
		if !off.Stop() {
			t.Error("it could not be called off any more")
		}
		for _, want := range []string{"1 1", "500 500"} {
			if got := <-made; got != want {
				t.Errorf("made %s, want %s", got, want)
			}
		}
	})
}

// With the system's timers no call is early or lost.
func TestSharpen(t *testing.T) {
	c := New()
	if err := c.EnablePreciseTimers(); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const n = 100
	early := make(chan int64, n)
	start := c.Now().Ceil()
	for i := range int64(n) {
		c.At(start+i/4, func() { early <- start + i/4 - c.Now().Floor() })
	}
	for range n {
		if e := <-early; e > 0 {
			t.Errorf("%d ms early", e)
		}
	}
}
