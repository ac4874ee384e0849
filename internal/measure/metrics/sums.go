package metrics

import (
	"sync/atomic"

	"candlemark/internal/measure/queuestats"
)

// Kind is a kind of queues summed up together.
type Kind uint8

// The kinds. A Holder keeps the messages of a delayed exchange; clients do not see it as a queue.
const (
	Classic Kind = iota
	Quorum
	Stream
	Holder

	kinds
)

// KindOf returns the kind of a queue of that type.
func KindOf(queueType string, holder bool) Kind {
	switch {
	case holder:
		return Holder
	case queueType == "quorum":
		return Quorum
	case queueType == "stream":
		return Stream
	}
	return Classic
}

// shards is the number of copies of the sums, so that queues that update them at the same time rarely share memory.
const shards = 8

// Queues sums up the numbers of all queues of a broker. The zero value is ready.
type Queues struct {
	sums [kinds][shards]Share
}

// Share sums up the numbers of a part of the queues. Any goroutine may write and read.
type Share struct {
	numbers [len(queuestats.Sums{})]atomic.Int64
	// Expired and Released are how late due messages left: ns after their deadline, or after the time that they were
	// scheduled for.
	Expired, Released Lateness
	// Wait and Processing are how long messages waited for their first delivery, and how long deliveries were processed.
	Wait, Processing SharedSpans
	_                [64]byte // the next one is in another cache line
}

// Of returns the share that a queue reports to, by the queue's number.
func (q *Queues) Of(kind Kind, number uint64) *Share { return &q.sums[kind][number%shards] }

// Report adds the differences between a queue's numbers and its last reported numbers, and remembers the new ones.
func (s *Share) Report(reported, now *queuestats.Sums) {
	for i, v := range now {
		if v != reported[i] {
			s.numbers[i].Add(v - reported[i])
			reported[i] = v
		}
	}
}

// Forget subtracts the gauges of a queue that ends. Its counters stay.
func (s *Share) Forget(reported *queuestats.Sums) {
	now := *reported
	for i := range queuestats.Gauges {
		now[i] = 0
	}
	s.Report(reported, &now)
}

// Total returns the numbers of all queues of a kind. They are not from one moment.
func (q *Queues) Total(kind Kind) (t queuestats.Sums) {
	for i := range q.sums[kind] {
		for j := range t {
			t[j] += q.sums[kind][i].numbers[j].Load()
		}
	}
	return t
}

// Unsettled returns the number of deliveries of all queues that consumers have not settled so far, even if the broker has taken them back.
func (q *Queues) Unsettled() (n int64) {
	for kind := range q.sums {
		for i := range q.sums[kind] {
			s := &q.sums[kind][i]
			n += s.numbers[queuestats.Delivered].Load() + s.numbers[queuestats.Got].Load() - s.numbers[queuestats.Settled].Load()
		}
	}
	return n
}

// All returns the numbers of all queues that clients see.
func (q *Queues) All() (t queuestats.Sums) {
	for kind := range Holder {
		n := q.Total(kind)
		t.Add(&n)
	}
	return t
}

// Expired returns how late messages expired, of all queues and holders.
func (q *Queues) Expired() Buckets { return q.lateness(func(s *Share) *Lateness { return &s.Expired }) }

// Released returns how late scheduled messages were released, of all queues and holders.
func (q *Queues) Released() Buckets {
	return q.lateness(func(s *Share) *Lateness { return &s.Released })
}

func (q *Queues) lateness(of func(*Share) *Lateness) Buckets {
	all := DurationBuckets()
	for kind := range q.sums {
		for i := range q.sums[kind] {
			of(&q.sums[kind][i]).addTo(&all)
		}
	}
	return all
}
