package metrics

import (
	"sync/atomic"
	"time"
)

// Buckets is a snapshot of a histogram.
type Buckets struct {
	Bounds []float64 // inclusive upper bounds of all buckets but the last, which has none
	Counts []uint64  // of each bucket, not cumulative
	Sum    float64   // of all values
}

// Count returns the number of values.
func (b *Buckets) Count() (n uint64) {
	for _, c := range b.Counts {
		n += c
	}
	return n
}

// durations are the bounds of durations, in ns.
var durations = [...]int64{
	int64(100 * time.Microsecond), int64(250 * time.Microsecond), int64(500 * time.Microsecond),
	int64(time.Millisecond), int64(2500 * time.Microsecond), int64(5 * time.Millisecond), int64(10 * time.Millisecond),
	int64(25 * time.Millisecond), int64(50 * time.Millisecond), int64(100 * time.Millisecond), int64(250 * time.Millisecond),
	int64(time.Second), int64(10 * time.Second), int64(time.Minute),
}

// DurationBuckets returns an empty histogram of durations, in s.
func DurationBuckets() Buckets {
	b := Buckets{Bounds: make([]float64, len(durations)), Counts: make([]uint64, len(durations)+1)}
	for i, ns := range durations {
		b.Bounds[i] = float64(ns) / 1e9
	}
	return b
}

// Lateness is a histogram of durations with many writers. The zero value is empty.
type Lateness struct {
	counts [len(durations) + 1]atomic.Uint64
	sum    atomic.Int64 // ns
}

// Observe counts a duration.
func (l *Lateness) Observe(d time.Duration) {
	var run Run
	run.Observe(l, int64(d))
	run.Flush(l)
}

// Buckets returns a snapshot, in s.
func (l *Lateness) Buckets() Buckets {
	b := DurationBuckets()
	l.addTo(&b)
	return b
}

func (l *Lateness) addTo(b *Buckets) {
	for i := range l.counts {
		b.Counts[i] += l.counts[i].Load()
	}
	b.Sum += float64(l.sum.Load()) / 1e9
}

// Run gathers consecutive durations in the same bucket, as of messages with one deadline, so that thousands of them are
// written at once. It belongs to one goroutine, which must call Flush before others read.
type Run struct {
	sum    int64 // ns
	count  uint32
	bucket uint32
}

// Observe counts a duration in ns; a negative one as 0.
func (r *Run) Observe(l *Lateness, ns int64) {
	ns = max(ns, 0)
	bucket := uint32(bucketOf(durations[:], ns))
	if bucket != r.bucket || r.count == 1<<31 {
		r.Flush(l)
	}
	r.bucket = bucket
	r.count++
	r.sum += ns
}

// Flush writes the gathered durations.
func (r *Run) Flush(l *Lateness) {
	if r.count > 0 {
		l.counts[r.bucket].Add(uint64(r.count))
		l.sum.Add(r.sum)
		*r = Run{}
	}
}

// Late gathers how late the messages of one queue leave, for a turn.
type Late struct {
	Share             *Share // the target; nil for none
	expired, released Run
}

// Expired counts a message that expires at now, in ns, and was due at due, in ms.
func (l *Late) Expired(due, now int64) {
	if l.Share != nil {
		l.expired.Observe(&l.Share.Expired, now-due*1e6)
	}
}

// Released is the same for a released message.
func (l *Late) Released(due, now int64) {
	if l.Share != nil {
		l.released.Observe(&l.Share.Released, now-due*1e6)
	}
}

// Flush ends the turn.
func (l *Late) Flush() {
	if l.Share != nil {
		l.expired.Flush(&l.Share.Expired)
		l.released.Flush(&l.Share.Released)
	}
}

// bucketOf returns the first bucket whose bound is not below v.
func bucketOf(bounds []int64, v int64) int {
	for i, bound := range bounds {
		if v <= bound {
			return i
		}
	}
	return len(bounds)
}
