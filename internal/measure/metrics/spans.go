package metrics

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// spanBounds are the inclusive upper bounds of waiting and processing times, in ms (AGE-3).
var spanBounds = [...]int64{
	1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 5 * 60_000, 15 * 60_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000,
}

const spans = len(spanBounds) + 1

// spanSeconds are spanBounds in s. Nobody changes them.
var spanSeconds = func() (all []float64) {
	for _, ms := range spanBounds {
		all = append(all, float64(ms)/1000)
	}
	return all
}()

// recent is how long Spans counts apart what is new, in ms.
const recent = 60_000

// Spans is a histogram of times of the messages of one queue, and another of the last 1 to 2 min alone. A Spans belongs
// to one goroutine. The zero value is empty.
type Spans struct {
	counts [spans]uint64
	sum    int64 // ms
	// began is when the present minute began, in wall ms. last and before are the counts at its begin and a minute
	// earlier, modulo 2^32.
	began        int64
	last, before [spans]uint32
}

// roll begins the minute of now, in wall ms. It is called before the first time of that minute is counted.
func (s *Spans) roll(now int64) {
	passed := now - s.began
	if passed >= 0 && passed < recent {
		return
	}
	s.before = s.last
	for i, n := range s.counts {
		s.last[i] = uint32(n)
	}
	if s.began += recent; passed < 0 || passed >= 2*recent {
		s.began, s.before = now, s.last
	}
}

// SpanSummary describes Spans at one moment.
type SpanSummary struct {
	Buckets // in s
	// Median and P99 are percentiles of the last 1 to 2 min in s, interpolated in their bucket and at most its highest
	// bound; -1 if there were no times.
	Median, P99 float64
}

// Summary describes s at now, in wall ms; nil if s is.
func (s *Spans) Summary(now int64) *SpanSummary {
	if s == nil {
		return nil
	}
	s.roll(now)
	all := &SpanSummary{Buckets: Buckets{Bounds: spanSeconds, Counts: append([]uint64(nil), s.counts[:]...), Sum: float64(s.sum) / 1000}}
	var of [spans]uint32
	for i, n := range s.counts {
		of[i] = uint32(n) - s.before[i]
	}
	all.Median, all.P99 = percentile(&of, 0.5), percentile(&of, 0.99)
	return all
}

// percentile returns the value in s that a share of the counted times does not exceed; -1 if there are none.
func percentile(of *[spans]uint32, share float64) float64 {
	total := 0.0
	for _, n := range of {
		total += float64(n)
	}
	if total == 0 {
		return -1
	}
	low, left := 0.0, share*total
	for i, high := range spanSeconds {
		if n := float64(of[i]); n > 0 && left <= n {
			return low + (high-low)*left/n
		}
		low, left = high, left-float64(of[i])
	}
	return low
}

// SharedSpans is a histogram of the same times of many queues, with many writers. The zero value is empty.
type SharedSpans struct {
	counts [spans]atomic.Uint64
	sum    atomic.Int64 // ms
}

func (s *SharedSpans) addTo(b *Buckets) {
	for i := range s.counts {
		b.Counts[i] += s.counts[i].Load()
	}
	b.Sum += float64(s.sum.Load()) / 1000
}

// turnSpans gathers the times of one turn.
type turnSpans struct {
	low, high int64 // the last time was in the bucket above low up to high
	sum       int64 // ms
	bucket    uint8 // of the last time
	dirty     uint32
	counts    [spans]uint32
}

// observe counts a time in ms; a negative one as 0.
func (t *turnSpans) observe(ms int64) {
	ms = max(ms, 0)
	if ms <= t.low || ms > t.high {
		t.seek(ms)
	}
	t.counts[t.bucket]++
	t.dirty |= 1 << t.bucket
	t.sum += ms
}

// seek finds the bucket of a time in ms.
func (t *turnSpans) seek(ms int64) {
	at := bucketOf(spanBounds[:], ms)
	t.bucket, t.low, t.high = uint8(at), -1, math.MaxInt64
	if at > 0 {
		t.low = spanBounds[at-1]
	}
	if at < len(spanBounds) {
		t.high = spanBounds[at]
	}
}

// flush adds the gathered times to *kept, made if necessary, and to shared unless nil. now is in wall ms.
func (t *turnSpans) flush(kept **Spans, shared *SharedSpans, now int64) {
	if *kept == nil {
		*kept = &Spans{began: now}
	}
	s := *kept
	s.roll(now)
	s.sum += t.sum
	if shared != nil {
		shared.sum.Add(t.sum)
	}
	for ; t.dirty != 0; t.dirty &= t.dirty - 1 {
		i := bits.TrailingZeros32(t.dirty)
		s.counts[i] += uint64(t.counts[i])
		if shared != nil {
			shared.counts[i].Add(uint64(t.counts[i]))
		}
		t.counts[i] = 0
	}
	t.sum = 0
}

// Ages gathers, for a turn, how long the messages of one queue waited and were processed (AGE-3).
type Ages struct {
	Share            *Share // nil for none
	AgesKept                // of earlier turns
	wait, processing turnSpans
}

// AgesKept are the histograms of one queue, nil before the first time.
type AgesKept struct{ Wait, Processing *Spans }

// Waited counts a message that waited ms for its first delivery.
func (a *Ages) Waited(ms int64) { a.wait.observe(ms) }

// Processed counts a delivery that was settled or returned after ms.
func (a *Ages) Processed(ms int64) { a.processing.observe(ms) }

// Flush ends a turn at now, in wall ms.
func (a *Ages) Flush(now int64) {
	if a.wait.dirty|a.processing.dirty == 0 {
		return
	}
	var wait, processing *SharedSpans
	if a.Share != nil {
		wait, processing = &a.Share.Wait, &a.Share.Processing
	}
	if a.wait.dirty != 0 {
		a.wait.flush(&a.Wait, wait, now)
	}
	if a.processing.dirty != 0 {
		a.processing.flush(&a.Processing, processing, now)
	}
}

// Times returns how long the messages of all queues of a kind waited, and how long they were processed, in s.
func (q *Queues) Times(kind Kind) (wait, processing Buckets) {
	wait, processing = Buckets{Bounds: spanSeconds, Counts: make([]uint64, spans)}, Buckets{Bounds: spanSeconds, Counts: make([]uint64, spans)}
	for i := range q.sums[kind] {
		q.sums[kind][i].Wait.addTo(&wait)
		q.sums[kind][i].Processing.addTo(&processing)
	}
	return wait, processing
}
