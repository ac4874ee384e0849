package mailbox_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestCarryRunsWhatItPosts: the caller of Carry runs the turns that its post schedules, in order, while the workers stay idle.
func TestCarryRunsWhatItPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(t, 2)
		synctest.Wait()
		var got []any // unsynchronized: the race detector checks that one goroutine runs all
		d.Carry(func() {
			for i := range 2 {
				d.Schedule(func() {
					got = append(got, i)
					d.Schedule(func() { got = append(got, 10+i) })
				})
			}
		})
		expect(t, "turns", got, 0, 1, 10, 11)
	})
}

// TestCarryLeavesItToWorkers: when all workers are busy, turns posted in Carry are left to them.
func TestCarryLeavesItToWorkers(t *testing.T) {
	d := newDispatcher(t, 1)
	begun, end, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d.Schedule(func() { close(begun); <-end })
	<-begun
	var returned atomic.Bool
	d.Carry(func() {
		d.Schedule(func() {
			for !returned.Load() {
				runtime.Gosched()
			}
			close(over)
		})
	})
	returned.Store(true)
	close(end)
	<-over
}

// TestCarryEnds: Carry returns in spite of an endless chain of turns, which a worker takes over.
func TestCarryEnds(t *testing.T) {
	d := newDispatcher(t, 1)
	var stop atomic.Bool
	over := make(chan struct{})
	var turn func()
	turns := 0
	turn = func() {
		if turns++; stop.Load() {
			close(over)
			return
		}
		d.Schedule(turn)
	}
	d.Carry(func() { d.Schedule(turn) })
	stop.Store(true)
	<-over
}

// TestCarryAfterPanic: after a panic in Carry, turns already posted are still run, and so are all later ones.
func TestCarryAfterPanic(t *testing.T) {
	d := newDispatcher(t, 1)
	for range 2 {
		var turns sync.WaitGroup
		turns.Add(1)
		func() {
			defer func() { _ = recover() }()
			d.Carry(func() {
				d.Schedule(turns.Done)
				panic("of the post")
			})
		}()
		turns.Wait()
	}
}

// TestNoWakeUpIsLost posts turns from Carry, from turns and from other goroutines, repeatedly until all is idle, with few workers
// and turns of different lengths. A turn that is never run ends the bubble with a deadlock.
func TestNoWakeUpIsLost(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { randomLoad(t, seed) })
	}
}

func randomLoad(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	d := newDispatcher(t, 1+int(seed%3))
	var left sync.WaitGroup
	var post func(depth int)
	var mu sync.Mutex // guards rnd
	number := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rnd.IntN(n)
	}
	post = func(depth int) {
		left.Add(1)
		d.Schedule(func() {
			defer left.Done()
			if number(3) == 0 {
				time.Sleep(time.Duration(number(300)) * time.Microsecond) // a long turn
			}
			for range number(4) {
				if depth > 0 {
					post(depth - 1)
				}
			}
		})
	}
	for range 20 {
		var posters sync.WaitGroup
		for range 1 + number(4) {
			posters.Go(func() {
				time.Sleep(time.Duration(number(100)) * time.Microsecond)
				if number(3) == 0 {
					post(3)
				} else {
					d.Carry(func() { post(3) })
				}
			})
		}
		posters.Wait()
		left.Wait()
	}
}

// Carry calls Due first, whether workers are idle or not.
func TestCarryDue(t *testing.T) {
	d := newDispatcher(t, 1)
	var calls []string
	d.Due = func() { calls = append(calls, "due") }
	carry := func() { d.Carry(func() { calls = append(calls, "post") }) }
	carry()
	begun, end := make(chan struct{}), make(chan struct{})
	d.Schedule(func() {
		close(begun)
		<-end
	})
	<-begun
	carry()
	close(end)
	if want := []string{"due", "post", "due", "post"}; !slices.Equal(calls, want) {
		t.Errorf("called %v, want %v", calls, want)
	}
}
