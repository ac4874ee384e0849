package load

import (
	"math"
	"testing"

	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"
)

// BenchmarkStreamTake records one message in a consumer's queue and histograms.
func BenchmarkStreamTake(b *testing.B) {
	run := NewRun(1, wire.Config{})
	s := NewStream(run, 0, &verify.Queue{}, false)
	arrivals := make([]Received, gathered)
	var seq uint64
	for b.Loop() {
		for i := range arrivals {
			arrivals[i] = Received{ID: verify.ID{Seq: seq}, Sent: 5, Due: 5, At: 1000000 + int64(seq%100000)}
			seq++
		}
		s.Take(arrivals)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(seq), "ns/message")
}

// BenchmarkWindow settles 500 messages with one confirm.
func BenchmarkWindow(b *testing.B) {
	w := newWindow(1000, math.MaxUint64, NewRun(1, wire.Config{}).Confirm.Shard(0))
	n := 0
	for b.Loop() {
		got, now, _ := w.reserve(500)
		n += got
		w.confirm(&wire.Event{Kind: wire.Ack, Tag: w.next - 1, Flag: true}, now+1e6)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/message")
}
