package budget

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRation_DL33: without consumers, copies let queues grow by a burst and then by some hundred messages per second;
// with consumers that take them all, there are many.
func TestRation_DL33(t *testing.T) {
	run := func(r *ration, n, count int64, from, to time.Duration, consumed bool) (made int64) {
		for now := from; now < to; now += time.Millisecond {
			for r.take(n, count, now) {
				if made += n; !consumed {
					count += n
				}
			}
		}
		return made
	}
	for _, n := range []int64{1, 99, 1000, 50_000} {
		var r ration
		if made := run(&r, n, 1_000_000, 0, 100*time.Second, false); made < copyRate*100 || made > max(2*copyBurst+3*copyRate*100, 3*n) {
			t.Errorf("%d at a time: %d copies in 100 s without consumers", n, made)
		}
	}
	var r ration
	if made := run(&r, 99, 1_000_000, 0, 10*time.Second, true); made < 200_000 {
		t.Errorf("%d copies in 10 s for eager consumers", made)
	}
}

// TestRationFollows_DL33: messages of publishers do not make copies wait for long, a number that goes up and down makes
// no room, and a pause neither.
func TestRationFollows_DL33(t *testing.T) {
	var r ration
	r.take(1, 1000, 0)
	at := time.Second
	if r.take(1, 1_000_000, at) {
		t.Error("copies follow publishers at once")
	}
	for end := at + 3*time.Minute; at < end && !r.take(1, 1_000_000, at); at += 100 * time.Millisecond {
	}
	if at > 2*time.Minute {
		t.Errorf("a copy waits for %v", at)
	}
	made, begin := int64(0), at
	for count := int64(1_000_000); at < begin+time.Minute; at += 20 * time.Millisecond {
		for _, moved := range []int64{-1000, 0} {
			for at += 20 * time.Millisecond; r.take(1, count+moved, at); count++ {
				made++
			}
		}
	}
	if made > copyBurst+3*60*copyRate {
		t.Errorf("%d copies in a minute of ups and downs", made)
	}
	if room := r.look(2_000_000, at+time.Hour); room > copyBurst {
		t.Errorf("room for %d after an hour", room)
	}
}

func TestCopies_DL33(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none *Copies
		b := &Budget{}
		v := NewValve(b)
		c := NewCopies(b, v)
		if none.Scarce() || !none.Ask(1<<30) || c.Scarce() || !c.Ask(1<<30) {
			t.Error("rationed without a limit")
		}
		c.SetMax(1000 * EntryBytes)
		b.Count(900)
		if b.Add(100 * EntryBytes); c.Scarce() {
			t.Error("scarce at the limit")
		}
		if b.Add(1); !c.Scarce() || !c.Ask(copyBurst) || c.Ask(copyBurst) {
			t.Error("not rationed")
		}
		var woken atomic.Int32
		c.Await(func() { woken.Add(1) })
		c.Await(func() { woken.Add(1) })
		time.Sleep(2 * copyWake)
		synctest.Wait()
		if woken.Load() != 2 {
			t.Errorf("%d woken", woken.Load())
		}
		for c.Ask(1) {
		}
		b.Count(10 * copyBurst)
		c.Await(func() { woken.Add(1) })
		time.Sleep(copyAnyway - 3*copyWake)
		synctest.Wait()
		if woken.Load() != 2 {
			t.Error("woken without room")
		}
		time.Sleep(4 * copyWake)
		synctest.Wait()
		if woken.Load() != 3 {
			t.Error("never woken")
		}
		b.Count(-10 * copyBurst)
		b.Add(-1)
		if v.SetShut(true); !c.Scarce() {
			t.Error("not scarce in an alarm")
		}
		v.SetShut(false)
		if c.Scarce() || !c.Ask(1<<30) {
			t.Error("still scarce")
		}
	})
}
