package memory

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const orders store.QueueID = 1

func put(seq uint64) []store.Record {
	return []store.Record{{Kind: store.Put, First: seq, Last: seq}}
}

// run appends n batches, one per millisecond, and returns the result and the completion time of each, and the records kept.
func run(o Options, n int) (fates []error, times []time.Duration, kept []store.Record) {
	j := New(o)
	start := time.Now()
	for i := range n {
		j.Append(orders, put(uint64(i)), func(err error) {
			fates = append(fates, err)
			times = append(times, time.Since(start))
		})
		time.Sleep(time.Millisecond)
	}
	_ = j.Close()
	return fates, times, j.Replay(orders)
}

func TestCompletesInOrderAfterTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fates, times, kept := run(Options{Delay: 5 * time.Millisecond, Keep: true}, 20)
		if len(fates) != 20 || len(kept) != 20 || !slices.IsSorted(times) || times[0] != 5*time.Millisecond {
			t.Fatalf("%d completed, %d kept, at %v", len(fates), len(kept), times)
		}
		for i, r := range kept {
			if r.First != uint64(i) || fates[i] != nil {
				t.Fatalf("%d: %d, %v", i, r.First, fates[i])
			}
		}
	})
}

func TestWhatFailsIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, n := errors.New("full"), 0
		fates, _, kept := run(Options{Keep: true, Fail: func() error {
			if n++; n%2 == 0 {
				return full
			}
			return nil
		}}, 10)
		failed := 0
		for _, err := range fates {
			if errors.Is(err, full) {
				failed++
			}
		}
		if len(fates) != 10 || failed != 5 || len(kept) != 5 {
			t.Fatalf("%d completed, %d failed, %d kept", len(fates), failed, len(kept))
		}
	})
}

func TestClosed(t *testing.T) {
	j := New(Options{})
	_, _ = j.Close(), j.Close()
	got := make(chan error)
	j.Append(orders, put(1), func(err error) { got <- err })
	if err := <-got; !errors.Is(err, store.ErrClosed) || len(j.Replay(orders)) != 0 {
		t.Fatalf("append after close: %v", err)
	}
}
