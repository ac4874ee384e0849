package load

import (
	"sync"
	"testing"
)

// TestFewThreads: of many producers, only maxTied are locked to an OS thread.
func TestFewThreads(t *testing.T) {
	var pacers []pacer
	var wg sync.WaitGroup
	for range 3 * maxTied {
		pacers = append(pacers, pacer{})
	}
	ready, end := make(chan struct{}, len(pacers)), make(chan struct{})
	for i := range pacers {
		wg.Go(func() {
			pacers[i] = newPacer()
			defer pacers[i].release()
			ready <- struct{}{}
			<-end
		})
	}
	for range pacers {
		<-ready
	}
	n := 0
	for _, p := range pacers {
		if p.tied {
			n++
		}
	}
	close(end)
	if wg.Wait(); n != maxTied || tied.Load() != 0 {
		t.Errorf("%d threads, %d are not given back", n, tied.Load())
	}
}
