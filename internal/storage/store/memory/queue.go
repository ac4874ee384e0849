package memory

import (
	"cmp"
	"slices"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// queue is the journal's state of a queue.
type queue struct {
	messages map[uint64]*entry
	taken    bool // or created since the journal was opened
}

type entry struct {
	record      store.Record
	redelivered bool
	released    bool
	ttlThen     store.TTLThen
	deferred    bool
	until       int64
	returns     message.Returns
}

// put adds a message. The state of an existing one is kept.
func (q *queue) put(r store.Record) {
	if !r.Again {
		q.messages[r.First] = &entry{record: r}
	} else if m := q.messages[r.First]; m != nil {
		m.record = r
	}
}

// mark applies a record to the messages in its range. It iterates over the numbers or over the messages, whichever are
// fewer, because numbers have big gaps.
func (q *queue) mark(r *store.Record) {
	if r.Last-r.First < uint64(len(q.messages)) {
		for i := range r.Last - r.First + 1 {
			q.markOne(r.First+i, r)
		}
		return
	}
	for n := range q.messages {
		if r.First <= n && n <= r.Last {
			q.markOne(n, r)
		}
	}
}

func (q *queue) markOne(n uint64, r *store.Record) {
	m := q.messages[n]
	if m == nil {
		return
	}
	switch r.Kind {
	case store.Remove:
		delete(q.messages, n)
	case store.Returned:
		m.returns.Fail()
		m.redelivered = true
	case store.GivenBack:
		m.returns.GiveBack()
		m.redelivered = true
	case store.Delivered:
		m.redelivered = true
	case store.Released:
		m.released, m.ttlThen = true, r.TTLThen
	case store.Deferred, store.Postponed:
		m.deferred, m.until = true, r.Until
	case store.Rescheduled:
		m.record.Due = r.Due
	case store.Put, store.Spill, store.Retire, store.Named, store.Applied: // not about single existing messages
	}
}

// own copies the memory that the record points at.
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
			Body: uint32(len(r.Body)), Redelivered: m.redelivered, Returns: m.returns,
			Due: r.Due, Released: m.released, TTLThen: m.ttlThen, Deferred: m.deferred, Until: m.until, Note: r.Note, MessageID: idOf(r),
		})
	}
	slices.SortFunc(list, func(a, b store.Recovered) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func idOf(r *store.Record) uint32 {
	if r.Due == 0 {
		return 0
	}
	return store.IDHash(r.Header)
}
