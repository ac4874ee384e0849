package stats

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Resolution of histograms, in nanoseconds, their largest value, and the significant digits that they keep.
const (
	finest   = 64
	maxValue = int64(time.Hour)
	digits   = 3
)

// Histogram counts durations in nanoseconds, not below 0.
type Histogram struct {
	h   *hdrhistogram.Histogram
	sum float64
}

// NewHistogram is empty.
func NewHistogram() *Histogram { return &Histogram{h: hdrhistogram.New(finest, maxValue, digits)} }

// Record counts a duration n times; values outside of the range count as its end.
func (h *Histogram) Record(ns, n int64) {
	ns = min(max(ns, 0), maxValue)
	h.sum += float64(ns) * float64(n)
	_ = h.h.RecordValues(ns, n) // in the range
}

// Merge adds what another one has.
func (h *Histogram) Merge(o *Histogram) {
	h.h.Merge(o.h)
	h.sum += o.sum
}

func (h *Histogram) reset() {
	h.h.Reset()
	h.sum = 0
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Quantile returns the duration in nanoseconds that a share q of all is not above; 0 if there are none.
func (h *Histogram) Quantile(q float64) int64 { return h.h.ValueAtQuantile(100 * q) }

// Summary of durations in milliseconds.
type Summary struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min_ms"`
	Mean  float64 `json:"mean_ms"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	Max   float64 `json:"max_ms"`
}

// Summary sums up.
func (h *Histogram) Summary() Summary {
	n := h.Count()
	if n == 0 {
		return Summary{}
	}
	ms := func(q float64) float64 { return Millis(h.Quantile(q)) }
	return Summary{n, Millis(h.h.Min()), Round(h.sum/float64(n)/1e6, 4), ms(.5), ms(.9), ms(.99), ms(.999), Millis(h.h.Max())}
}

// Millis converts nanoseconds to milliseconds with four decimals.
func Millis(ns int64) float64 { return Round(float64(ns)/1e6, 4) }

// Round rounds to that number of decimal places.
func Round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}

// shards is how many parts a Recorder has, for goroutines that record at the same time.
const shards = 4

// Recorder is a histogram for several goroutines.
type Recorder struct {
	parts [shards]Shard
	total *Histogram // of former intervals
}

// Shard is a part of a Recorder. It is safe for concurrent use; goroutines that use different ones do not wait for each other.
type Shard struct {
	mu sync.Mutex
	h  *Histogram
}

// NewRecorder is empty.
func NewRecorder() *Recorder {
	r := &Recorder{total: NewHistogram()}
	for i := range r.parts {
		r.parts[i].h = NewHistogram()
	}
	return r
}

// Shard returns the part for the i-th goroutine.
func (r *Recorder) Shard(i int) *Shard { return &r.parts[i%shards] }

// Record counts durations in nanoseconds. Equal durations in a row, as of messages written and read together, are
// cheap.
func (s *Shard) Record(ns ...int64) {
	s.mu.Lock()
	for i := 0; i < len(ns); {
		v, from := ns[i], i
		for i++; i < len(ns) && ns[i] == v; i++ {
		}
		s.h.Record(v, int64(i-from))
	}
	s.mu.Unlock()
}

// Interval returns what was recorded since it was called last. Only one goroutine may call it, and the others of Recorder.
func (r *Recorder) Interval() *Histogram {
	now := NewHistogram()
	for i := range r.parts {
		p := &r.parts[i]
		p.mu.Lock()
		if p.h.Count() > 0 {
			now.Merge(p.h)
			p.h.reset()
		}
		p.mu.Unlock()
	}
	r.total.Merge(now)
	return now
}

// Forget drops everything that was recorded: the time to warm up is over.
func (r *Recorder) Forget() {
	r.Interval()
	r.total.reset()
}

// Total is everything that was recorded.
func (r *Recorder) Total() *Histogram {
	r.Interval()
	return r.total
}
