package segment_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/storetest"
	"candlemark/internal/storage/store/vfs"
)

var (
	crashRuns = flag.Int("crash-runs", 40, "how many times the plug is pulled")
	crashFrom = flag.Uint64("crash-from", 0, "the first seed")
)

const lag = 20 * time.Millisecond

// crashing returns the journal for crash runs: its segments are so short that all of them are begun, emptied and recycled many times.
func crashing(seed uint64) storetest.Crashing {
	random := rand.New(rand.NewPCG(seed, 2))
	size := int64(16<<10) << random.IntN(5)
	settle := time.Duration(1+random.IntN(100)) * time.Millisecond
	within := lag
	if seed%2 > 0 { // a sync takes time, so that records are appended and written behind it
		within += time.Second
	}
	return storetest.Crashing{
		Lag: within,
		Open: func(fs vfs.FS, failed func(error), full func(bool)) (store.Journal, error) {
			if seed%2 > 0 {
				fs = lazyDisk{fs, time.Duration(1+seed%16) * time.Millisecond}
			}
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

// lazyDisk is a disk whose syncs of segments take time. Other syncs are made under locks, which stop virtual time.
type lazyDisk struct {
	vfs.FS
	pause time.Duration
}

type lazyFile struct {
	vfs.File
	pause time.Duration
}

func (d lazyDisk) Create(name string, size int64) (vfs.File, error) {
	f, err := d.FS.Create(name, size)
	return d.of(name, f), err
}

func (d lazyDisk) Open(name string) (vfs.File, error) {
	f, err := d.FS.Open(name)
	return d.of(name, f), err
}

func (d lazyDisk) of(name string, f vfs.File) vfs.File {
	if f == nil || !strings.Contains(name, "spare-") && !strings.HasSuffix(name, ".segment") {
		return f
	}
	return lazyFile{f, d.pause}
}

func (f lazyFile) Sync() error {
	<-time.After(f.pause) // in virtual time
	return f.File.Sync()
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
