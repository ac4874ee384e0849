package proc

import (
	"sync"
	"time"
)

// Watch looks for the most memory that a Target has.
type Watch struct {
	stop chan struct{}
	done sync.WaitGroup
	peak int64
}

// Watch samples every d until Stop.
func (t *Target) Watch(d time.Duration) *Watch {
	w := &Watch{stop: make(chan struct{})}
	all := t.All()
	w.done.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			var now int64
			for _, id := range all {
				now += rss(id)
			}
			w.peak = max(w.peak, now)
			select {
			case <-tick.C:
			case <-w.stop:
				return
			}
		}
	})
	return w
}

// Stop ends the sampling and returns the most resident memory in bytes.
func (w *Watch) Stop() int64 {
	close(w.stop)
	w.done.Wait()
	return w.peak
}

// Settled waits until the resident memory is constant for a third of limit, at most for limit, and returns the last
// sample.
func (t *Target) Settled(limit time.Duration) Sample {
	const still = 256 << 10 // bytes
	last, since := t.Sample(), time.Now()
	for end := since.Add(limit); time.Now().Before(end) && time.Since(since) < limit/3; {
		time.Sleep(limit / 30)
		now := t.Sample()
		if d := now.RSS - last.RSS; d > still || d < -still {
			since = time.Now()
		}
		last = now
	}
	return last
}
