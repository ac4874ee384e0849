package storetest_test

import (
	"testing"
	"time"

	"candlemark/internal/storage/store/memory"
	"candlemark/internal/storage/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// twin is the journal in memory; its Reopen simulates a restart.
type twin struct{ *memory.Journal }

func (j twin) Reopen(t *testing.T) storetest.Reopener {
	next := j.Journal.Reopen(memory.Options{})
	t.Cleanup(func() { _ = next.Close() })
	return twin{next}
}

func TestMemory(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "delayed": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			storetest.Exercise(t, func(t *testing.T) storetest.Reopener {
				j := memory.New(memory.Options{Delay: delay})
				t.Cleanup(func() { _ = j.Close() })
				return twin{j}
			})
		})
	}
}
