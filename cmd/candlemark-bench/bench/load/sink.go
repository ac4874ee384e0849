package load

import (
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
)

// Stream is the Sink of a channel, for messages consumed as they arrive.
type Stream struct {
	queue          *verify.Queue
	reader         verify.Reader
	latency, write *stats.Shard
	rated          bool
	ids            []verify.ID
	times          []int64
}

// NewStream returns the sink of the i-th channel that consumes, from this queue; rated: its messages are sent by a
// rate.
func NewStream(run *Run, i int, queue *verify.Queue, rated bool) *Stream {
	return &Stream{queue: queue, latency: run.Latency.Shard(i), write: run.FromWrite.Shard(i), rated: rated}
}

// Take implements Sink.
func (s *Stream) Take(arrivals []Received) {
	s.ids, s.times = s.ids[:0], s.times[:0]
	for i := range arrivals {
		s.ids = append(s.ids, arrivals[i].ID)
		s.times = append(s.times, arrivals[i].At-arrivals[i].Due)
	}
	s.queue.Take(&s.reader, s.ids)
	s.latency.Record(s.times...)
	if s.rated {
		for i := range arrivals {
			s.times[i] = arrivals[i].At - arrivals[i].Sent
		}
		s.write.Record(s.times...)
	}
}

// Late is the Sink of a channel whose messages come when they are due: their TTL after they were sent.
type Late struct {
	queue     *verify.Queue
	reader    verify.Reader
	lateness  func(producer uint32) []*stats.Signed
	notBefore func() int64
	ids       []verify.ID
}

// NewLate records how late the messages of each producer come. None is due before a moment (wire.Now).
func NewLate(queue *verify.Queue, lateness func(producer uint32) []*stats.Signed, notBefore func() int64) *Late {
	return &Late{queue: queue, lateness: lateness, notBefore: notBefore}
}

// Take implements Sink.
func (s *Late) Take(arrivals []Received) {
	s.ids = s.ids[:0]
	least := s.notBefore()
	for i := range arrivals {
		a := &arrivals[i]
		s.ids = append(s.ids, a.ID)
		for _, into := range s.lateness(a.Producer) {
			into.Record(a.At - max(a.Sent+int64(a.TTL), least))
		}
	}
	s.queue.Take(&s.reader, s.ids)
}

// TakeForeign implements Sink.
func (s *Late) TakeForeign(n int64) { s.queue.TakeForeign(n) }

// TakeForeign implements Sink.
func (s *Stream) TakeForeign(n int64) { s.queue.TakeForeign(n) }
