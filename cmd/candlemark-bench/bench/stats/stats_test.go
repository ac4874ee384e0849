package stats

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r, signed := NewRecorder(), NewSigned()
	var all, both []int64
	for i := range 20_000 {
		v := random.Int64N(1 << 30)
		r.Shard(i).Record(v)
		all = append(all, v)
		signed.Record(v - 1<<28)
		both = append(both, v-1<<28)
	}
	slices.Sort(all)
	slices.Sort(both)
	h := r.Total()
	for _, q := range []float64{.01, .5, .9, .99, .999, 1} {
		at := int(q*float64(len(all))+.5) - 1
		for what, pair := range map[string][2]int64{"": {h.Quantile(q), all[at]}, "signed ": {signed.Quantile(q), both[at]}} {
			if got, want := pair[0], pair[1]; max(got-want, want-got) > max(want, -want)/500+2*finest {
				t.Errorf("%sp%g is %d, not %d", what, 100*q, got, want)
			}
		}
	}
	if s := h.Summary(); s.Count != 20_000 || s.P50 <= 0 || s.Mean <= 0 || s.Max < s.P999 {
		t.Errorf("%+v", s)
	}
	early := int64(slices.IndexFunc(both, func(v int64) bool { return v >= 0 }))
	if l := signed.Lateness(); l.Early != early || l.Count != 20_000 || l.Min >= 0 || l.EarlyOver1ms > early || l.LateOver10ms == 0 {
		t.Errorf("%+v, %d early", l, early)
	}
}

// An interval contains the values since the last one; warm-up values are discarded; values out of range count as the nearest bound.
func TestIntervals(t *testing.T) {
	r := NewRecorder()
	r.Shard(1).Record(1000, 1000, 2000)
	if n := r.Interval().Count(); n != 3 {
		t.Error(n)
	}
	r.Forget()
	r.Shard(2).Record(-5, int64(2*time.Hour))
	if n := r.Interval().Count(); n != 2 {
		t.Error(n)
	}
	if h := r.Total(); h.Count() != 2 || h.Quantile(.01) > finest || h.Quantile(1) < maxValue {
		t.Error(h.Summary())
	}
	if (NewHistogram().Summary() != Summary{}) || (NewSigned().Lateness() != Lateness{}) || NewSigned().Quantile(.5) != 0 {
		t.Error("nothing is something")
	}
}

func TestRecordersAreShared(t *testing.T) {
	r := NewRecorder()
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			for range 1000 {
				r.Shard(i).Record(1, 2)
			}
		})
	}
	for range 10 {
		r.Interval()
	}
	done.Wait()
	if n := r.Total().Count(); n != 16_000 {
		t.Error(n)
	}
}

func TestSpread(t *testing.T) {
	for _, tc := range []struct {
		runs []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{5, 1, 3}, Spread{3, 1, 5}},
		{[]float64{5, 1, 3, 4}, Spread{3.5, 1, 5}},
	} {
		if got := SpreadOf(tc.runs); got != tc.want {
			t.Errorf("%v: %+v", tc.runs, got)
		}
	}
	if Ratio(Spread{Median: 4}, Spread{Median: 2}) != .5 || Ratio(Spread{}, Spread{Median: 1}) != 0 {
		t.Error("ratio")
	}
}
