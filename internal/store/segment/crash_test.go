package segment_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"candlemark/internal/store"
	"candlemark/internal/store/segment"
	"candlemark/internal/store/segment/recovery"
	"candlemark/internal/store/storetest"
	"candlemark/internal/store/vfs"
)

var (
	crashRuns = flag.Int("crash-runs", 100, "how many times the plug is pulled")
	crashFrom = flag.Uint64("crash-from", 0, "the first seed")
)

const lag = 20 * time.Millisecond

// crashing returns the journal for crash runs: its segments are so short that all of them are begun, emptied and recycled many times.
func crashing(seed uint64) storetest.Crashing {
	random := rand.New(rand.NewPCG(seed, 2))
	size := int64(16<<10) << random.IntN(5)
	settle := time.Duration(1+random.IntN(100)) * time.Millisecond
	return storetest.Crashing{
		Lag: lag,
		Open: func(fs vfs.FS, failed func(error), full func(bool)) (store.Journal, error) {
			j, report, err := segment.Open(fs, "data/journal", segment.Options{
				SegmentSize: size, Lag: lag, Settle: settle, OnFailure: failed, OnFull: full,
				OnDamage: func(d recovery.Damage) { panic(fmt.Sprintf("damage without anything damaged: %+v", d)) },
			})
			if err == nil && len(report.Damages) > 0 {
				_ = j.Close()
				err = fmt.Errorf("a crash is taken for damage: %+v", report.Damages)
			}
			if err != nil {
				return nil, err
			}
			return j, nil
		},
	}
}

func TestCrashes(t *testing.T) {
	for name, fault := range storetest.DiskFaults {
		runs := *crashRuns
		if fault != storetest.NoFault {
			runs = (runs + 4) / 5
		}
		t.Run(name, func(t *testing.T) {
			for i := range uint64(runs) {
				seed := *crashFrom + i
				t.Run(fmt.Sprint(seed), func(t *testing.T) { crashing(seed).Run(t, seed, fault) })
			}
		})
	}
}
