package wheel

import (
	"math/rand/v2"
	"testing"
)

const benchEntries = 1_000_000

// deadlineSets are the loads of a queue: equal TTLs, and different ones.
var deadlineSets = []struct {
	name string
	at   func(i int) int64
}{
	{"equal_ttl", func(i int) int64 { return epoch + 60_000 + int64(i/1000) }},
	{"random_60s", func(int) int64 { return epoch + rand.Int64N(60_000) }},
	{"random_1h", func(int) int64 { return epoch + rand.Int64N(3_600_000) }},
}

// perEntry runs setup and then timed over a million entries, and reports the time of one entry.
func perEntry(b *testing.B, setup, timed func(w *Wheel[*entries])) {
	for _, set := range deadlineSets {
		b.Run(set.name, func(b *testing.B) {
			e := newEntries(benchEntries)
			for i := 1; i <= benchEntries; i++ {
				e.deadlines[i] = set.at(i)
			}
			for b.Loop() {
				b.StopTimer()
				clear(e.links)
				w := New(e)
				w.Advance(epoch, 1, nil)
				setup(&w)
				b.StartTimer()
				timed(&w)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEntries, "ns/entry")
		})
	}
}

func insertAll(w *Wheel[*entries]) {
	for h := uint32(1); h <= benchEntries; h++ {
		w.Add(h)
	}
}

func BenchmarkInsert(b *testing.B) {
	perEntry(b, func(*Wheel[*entries]) {}, insertAll)
}

func BenchmarkCancel(b *testing.B) {
	perEntry(b, insertAll, func(w *Wheel[*entries]) {
		for h := uint32(1); h <= benchEntries; h++ {
			w.Remove(h)
		}
	})
}

// BenchmarkExpire wakes at each Next, like a queue.
func BenchmarkExpire(b *testing.B) {
	perEntry(b, insertAll, func(w *Wheel[*entries]) {
		for w.Len() > 0 {
			next, _ := w.Next()
			for w.Advance(next, 4096, func(uint32) {}) {
			}
		}
	})
}

// BenchmarkQuestions measures a histogram: four counts and the earliest deadline of a million entries.
func BenchmarkQuestions(b *testing.B) {
	for _, set := range deadlineSets {
		b.Run(set.name, func(b *testing.B) {
			e := newEntries(benchEntries)
			for i := 1; i <= benchEntries; i++ {
				e.deadlines[i] = set.at(i)
			}
			w := New(e)
			w.Advance(epoch, 1, nil)
			insertAll(&w)
			for b.Loop() {
				for _, ms := range []int64{1000, 60_000, 3_600_000, 86_400_000} {
					w.Until(epoch + ms)
				}
				w.Earliest()
			}
		})
	}
}

// BenchmarkExpireLate measures entries overdue by days.
func BenchmarkExpireLate(b *testing.B) {
	perEntry(b, insertAll, func(w *Wheel[*entries]) {
		for w.Advance(epoch+7*86_400_000, 4096, func(uint32) {}) {
		}
	})
}
