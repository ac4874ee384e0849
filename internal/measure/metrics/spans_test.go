package metrics

import (
	"math"
	"slices"
	"testing"
)

// TestSpans_AGE3: times are counted in the first bucket whose bound is not below them, for the queue and for all queues of its kind.
func TestSpans_AGE3(t *testing.T) {
	var q Queues
	a := Ages{Share: q.Of(Quorum, 1)}
	sum := int64(0)
	want := make([]uint64, spans)
	for i, bound := range spanBounds {
		for _, ms := range []int64{bound, bound, bound + 1} {
			a.Waited(ms)
			sum += ms
		}
		want[i] += 2
		want[i+1]++
	}
	a.Waited(-5)
	want[0]++
	a.Flush(0)
	a.Processed(3)
	a.Flush(1)
	a.Flush(2)
	wait, processing := q.Times(Quorum)
	for name, got := range map[string]Buckets{"queue": a.Wait.Summary(3).Buckets, "kind": wait} {
		if !slices.Equal(got.Counts, want) || got.Sum != float64(sum)/1000 || len(got.Bounds) != 16 || got.Bounds[15] != 86400 {
			t.Errorf("%s: %+v, want %v, %d ms", name, got, want, sum)
		}
	}
	if processing.Count() != 1 || processing.Counts[1] != 1 || a.Processing.Summary(3).Count() != 1 {
		t.Errorf("%+v", processing)
	}
	if other, _ := q.Times(Classic); other.Count() != 0 {
		t.Errorf("of another kind: %+v", other)
	}
	if n := testing.AllocsPerRun(100, func() { a.Waited(1); a.Waited(70_000); a.Processed(5); a.Flush(4) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if (*Spans)(nil).Summary(0) != nil {
		t.Error("nil has a summary")
	}
}

// TestPercentiles_AGE4: percentiles are of the last one to two minutes, and interpolated in their bucket.
func TestPercentiles_AGE4(t *testing.T) {
	var a Ages
	want := func(now int64, median, p99 float64) {
		t.Helper()
		if s := a.Wait.Summary(now); math.Abs(s.Median-median) > 1e-9 || math.Abs(s.P99-p99) > 1e-9 {
			t.Errorf("at %d: %v, %v, want %v, %v", now, s.Median, s.P99, median, p99)
		}
	}
	const began = 1_000_000
	for range 100 {
		a.Waited(200) // in the bucket from 100 to 500 ms
	}
	a.Flush(began)
	want(began, 0.3, 0.496)
	for range 100 {
		a.Waited(8000) // from 5 to 10 s
	}
	a.Flush(began + 70_000)
	want(began+70_000, 0.5, 9.9)
	want(began+119_999, 0.5, 9.9)
	want(began+120_000, 7.5, 9.95) // the first minute is over
	want(began+179_999, 7.5, 9.95)
	want(began+180_000, -1, -1)
	a.Waited(math.MaxInt32)
	a.Flush(began + 10_000_000)
	want(began+10_000_000, 86400, 86400)
	want(began+10_059_999, 86400, 86400)
	want(began-1, -1, -1) // a clock that was behind
	if n := a.Wait.Summary(began).Count(); n != 201 {
		t.Errorf("%d in all", n)
	}
}

func BenchmarkSpans(b *testing.B) {
	for name, times := range map[string][2]int64{"same": {3, 4}, "different": {3, 70_000}} {
		b.Run(name, func(b *testing.B) {
			var q Queues
			a := Ages{Share: q.Of(Classic, 1)}
			for i := 0; b.Loop(); i++ {
				if a.Waited(times[i&1]); i%256 == 0 {
					a.Flush(int64(i))
				}
			}
		})
	}
}
