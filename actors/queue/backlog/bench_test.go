package backlog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkSteady pushes, takes and removes with a hundred messages waiting.
func BenchmarkSteady(b *testing.B) {
	for _, size := range []int{16, 1024, 16 << 10} {
		b.Run(fmt.Sprint(size, "B"), func(b *testing.B) {
			var q Backlog
			r := small()
			r.Body = make([]byte, size)
			for range 100 {
				q.Push(r)
			}
			b.ReportAllocs()
			for b.Loop() {
				q.Push(r)
				h, _ := q.First()
				q.Take(h)
				q.Remove(h)
			}
		})
	}
}

// BenchmarkBursts fills an empty queue and drains it again.
func BenchmarkBursts(b *testing.B) {
	for _, burst := range []int{1, 10, 500} {
		b.Run(fmt.Sprint(burst), func(b *testing.B) {
			var q Backlog
			r := small()
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				q.Push(r)
				if q.Len() < burst {
					continue
				}
				for h, ok := q.First(); ok; h, ok = q.First() {
					q.Take(h)
					q.Remove(h)
				}
			}
		})
	}
}

// BenchmarkMillion times each operation with a million messages waiting.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	r := small()
	handles := make([]Handle, n)
	operations := []struct {
		name string
		do   func(q *Backlog)
	}{
		{"push", nil},
		{"get", func(q *Backlog) {
			for _, h := range handles {
				if rec := got(q, h); len(rec.Body) != 16 {
					b.Fatal("wrong body")
				}
			}
		}},
		{"take_return", func(q *Backlog) {
			for range handles {
				h, _ := q.First()
				q.Take(h)
				q.Return(h)
			}
		}},
		{"take_all", func(q *Backlog) {
			for range handles {
				h, _ := q.First()
				q.Take(h)
			}
		}},
		{"take_all_return_random", func(q *Backlog) {
			for range handles {
				h, _ := q.First()
				q.Take(h)
			}
			for _, i := range rand.Perm(n) {
				q.Return(handles[i])
			}
		}},
		{"remove_random", func(q *Backlog) {
			for _, i := range rand.Perm(n) {
				q.Remove(handles[i])
			}
		}},
		{"collect", func(*Backlog) { runtime.GC() }},
	}
	for _, op := range operations {
		b.Run(op.name, func(b *testing.B) {
			for b.Loop() {
				q := new(Backlog)
				if op.do != nil {
					b.StopTimer()
				}
				for i := range handles {
					handles[i] = q.Push(r)
				}
				if op.do != nil {
					b.StartTimer()
					op.do(q)
				}
				runtime.KeepAlive(q)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/message")
		})
	}
}
