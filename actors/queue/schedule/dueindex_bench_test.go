package schedule

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

const benchEntries = 5_000_000

const epoch = 1_800_000_000_000

func random() *entries {
	e := &entries{dues: make([]int64, benchEntries+1), seqs: make([]uint64, benchEntries+1)}
	for i := range e.dues {
		e.dues[i], e.seqs[i] = epoch+rand.Int64N(3_600_000), uint64(i)
	}
	return e
}

func filled(e *entries) *dueIndex[*entries] {
	a := newDueIndex(e)
	for h := uint32(1); h <= benchEntries; h++ {
		a.Add(h)
	}
	return &a
}

// BenchmarkFill adds five million entries due within an hour, in random order.
func BenchmarkFill(b *testing.B) {
	e := random()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		a := filled(e)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(a)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEntries, "ns/entry")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchEntries, "B/entry")
}

// BenchmarkFive measures each operation with five million entries in the index.
func BenchmarkFive(b *testing.B) {
	e := random()
	a := filled(e)
	b.Run("histogram", func(b *testing.B) {
		for b.Loop() {
			for _, ms := range []int64{1000, 60_000, 1_800_000, 3_599_000} {
				a.Until(epoch + ms)
			}
		}
	})
	b.Run("page of 1000", func(b *testing.B) {
		for b.Loop() {
			n := 0
			a.Behind(epoch+rand.Int64N(3_600_000), 0, func(uint32) bool {
				n++
				return n < 1000
			})
		}
	})
	b.Run("remove and add", func(b *testing.B) {
		for b.Loop() {
			h := 1 + rand.Uint32N(benchEntries)
			a.Remove(h)
			a.Add(h)
		}
	})
	b.Run("take first", func(b *testing.B) {
		for b.Loop() {
			if h, _, ok := a.First(); ok {
				a.Remove(h)
			}
		}
	})
}
