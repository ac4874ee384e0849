package broker

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/measure/clock"
	journals "candlemark/internal/storage/store"
	"candlemark/supervision"
)

// numbered is a journal that records the numbers of messages in the order in which they are appended.
type numbered struct {
	journals.Journal
	mu      sync.Mutex
	numbers []uint64
}

func (j *numbered) Append(q journals.QueueID, records []journals.Record, done func(error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range records {
		if r := &records[i]; r.Kind == journals.Put || r.Kind == journals.Spill {
			j.numbers = append(j.numbers, r.First)
		}
	}
	j.Journal.Append(q, records, done)
}

// The number of a message is never reused, even if the clock was set back before a crash, if the queue panics, or if the highest
// numbers were settled.
func TestMessageNumbersAreNotGivenOutTwice(t *testing.T) {
	l, j, f := &laptop{}, &numbered{}, &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) {
		if l.start.IsZero() {
			l.start = time.Now()
		}
		j.Journal = cfg.Journal
		cfg.Clock, cfg.Journal, cfg.Fault = clock.Of(l), j, f.check
	}, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked", "a queue ended after a panic", "restored from the journal after a panic", "a queue ended unexpectedly", "closing connection", "was set")
		const lives, each = 3, 5
		for range lives {
			s := &stage{Bubble: b, faults: f}
			for range 2 {
				s.again()
				s.durable()
				s.ch.Confirms()
				for range each {
					m := testkit.Text("m")
					m.DeliveryMode = 2
					s.ch.Publish("", "q", m)
				}
				if got := s.ch.Drain("q"); len(got) == 0 { // the messages with the highest numbers are settled
					t.Fatal("nothing is there")
				}
				f.arm(supervision.KindQueue, "*mail.Purge")
				_, _ = s.ch.QueuePurge("q", false)
				synctest.Wait()
			}
			l.set.Add(-int64(24 * time.Hour))
			b.Crash(0)
		}
		if len(j.numbers) != lives*2*each || !slices.IsSorted(j.numbers) || len(slices.Compact(j.numbers)) != lives*2*each {
			t.Errorf("numbers %d", j.numbers)
		}
	})
}
