package memory

import (
	"cmp"
	"slices"

	"candlemark/internal/store"
)

// queue is what the journal has of one.
type queue struct {
	messages map[uint64]*message
	taken    bool // or alive since the journal was opened
}

type message struct {
	record      store.Record
	redelivered bool
	deliveries  uint32
}

// mark goes over the numbers of the record or over the messages, whichever are
// fewer: numbers have big gaps.
func (q *queue) mark(r *store.Record) {
	if r.Last-r.First < uint64(len(q.messages)) {
		for i := range r.Last - r.First + 1 {
			q.markOne(r.First+i, r.Kind)
		}
		return
	}
	for n := range q.messages {
		if r.First <= n && n <= r.Last {
			q.markOne(n, r.Kind)
		}
	}
}

func (q *queue) markOne(n uint64, kind store.Kind) {
	m := q.messages[n]
	switch {
	case m == nil:
	case kind == store.Remove:
		delete(q.messages, n)
	case kind == store.Returned:
		m.deliveries++
		m.redelivered = true
	case kind == store.Delivered:
		m.redelivered = true
	}
}

// own copies what the record points at.
func own(r store.Record) store.Record {
	for _, b := range []*[]byte{&r.Exchange, &r.RoutingKey, &r.Header, &r.Body, &r.Overlay} {
		*b = slices.Clone(*b)
	}
	return r
}

func (q *queue) list() []store.Recovered {
	list := make([]store.Recovered, 0, len(q.messages))
	for _, m := range q.messages {
		r := &m.record
		list = append(list, store.Recovered{
			Seq: r.First, At: r.Position, Deadline: r.Deadline, TTL: r.TTL, Time: r.Time, Priority: r.Priority,
			Body: uint32(len(r.Body)), Redelivered: m.redelivered, Deliveries: m.deliveries,
		})
	}
	slices.SortFunc(list, func(a, b store.Recovered) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}
