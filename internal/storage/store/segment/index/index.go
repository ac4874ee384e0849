package index

import (
	"math"
	"slices"
	"sort"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
)

// Index records the live messages of each segment. It is changed only in the order of the log, by the encoder or by
// replay, under the log's lock.
type Index struct {
	Queues  map[store.QueueID]*Queue
	Names   map[store.QueueID]store.Name
	Highest store.QueueID // ever seen
	Copies  Copies
	// Applied is the number of the last entry that a replica has applied; 0 in other journals.
	Applied uint64
}

// Queue indexes the live messages of a queue: one set for each segment (and another for spilled messages), in the order
// in which they were begun.
type Queue struct {
	Id   store.QueueID
	Sets []*Set
	// tail is the set for puts, and the one for spills.
	tail [2]*Set
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{Queues: map[store.QueueID]*Queue{}, Names: map[store.QueueID]store.Name{}}
}

// Queue returns the entry of a queue, which it creates if missing.
func (x *Index) Queue(id store.QueueID) *Queue {
	q := x.Queues[id]
	if q == nil {
		q = &Queue{Id: id}
		x.Queues[id] = q
		x.Highest = max(x.Highest, id)
	}
	return q
}

// Stored returns how many messages survive a restart.
func (x *Index) Stored() (n int) {
	for _, q := range x.Queues {
		for _, s := range q.Sets {
			if !s.spill {
				n += s.Live
			}
		}
	}
	return n
}

// Put adds a message that takes size bytes in a segment, and returns its set.
func (q *Queue) Put(seg *Segment, seq uint64, spill bool, size int64) *Set {
	tail := &q.tail[0]
	if spill {
		tail = &q.tail[1]
	}
	s := *tail
	if s == nil || s.Seg != seg {
		s = &Set{Seg: seg, spill: spill}
		q.Sets = append(q.Sets, s)
		*tail = s
	}
	live, bytes := s.Live, s.bytes
	s.add(seq, size)
	seg.count(s.Live-live, s.bytes-bytes)
	return s
}

// Move moves a message to its new place, with the marks of the old one.
func (q *Queue) Move(seg *Segment, seq uint64, spill bool, size int64, m format.Marks) {
	q.Remove(seq, seq)
	s := q.Put(seg, seq, spill, size)
	if m.Flags&format.FlagRedelivered != 0 {
		s.deliver(seq, seq)
	}
	if m.Flags&format.FlagReleased != 0 {
		s.markReleased(seq, seq, m.TTLThen)
	}
	if m.Flags&format.FlagDeferred != 0 {
		s.markDeferred(seq, seq)
	}
	if m.Until != 0 {
		s.postpone(seq, seq, m.Until)
	}
	if m.Returns > 0 {
		s.count(seq, m.Returns)
	}
}

// Remove removes a run from all sets and returns how many of it were live.
func (q *Queue) Remove(first, last uint64) (n int) {
	empty := false
	for _, s := range q.Sets {
		if low, high := s.bounds(); high < first || low > last {
			continue
		}
		n += s.remove(first, last)
		empty = empty || s.Live == 0
		if uint64(n) == last-first+1 {
			break
		}
	}
	if empty {
		q.Drop()
	}
	return n
}

// Drop removes sets without live messages.
func (q *Queue) Drop() {
	q.Sets = slices.DeleteFunc(q.Sets, func(s *Set) bool { return s.Live == 0 })
	for i, s := range q.tail {
		if s != nil && s.Live == 0 {
			q.tail[i] = nil
		}
	}
}

// At reports whether a message is live in a segment. The sets are in the order of the segments.
func (q *Queue) At(segment, seq uint64) bool {
	i := sort.Search(len(q.Sets), func(i int) bool { return q.Sets[i].Seg.Seq >= segment })
	for ; i < len(q.Sets) && q.Sets[i].Seg.Seq == segment; i++ {
		if w, _ := q.Sets[i].has(seq); w != nil {
			return true
		}
	}
	return false
}

// Moving reports whether a message is live in any segment. Until its new place is durable, readers use the old one.
func (q *Queue) Moving(seq uint64) bool {
	return q.Holder(seq) != nil
}

// Holder returns the set that contains a live message, nil if it is not live.
func (q *Queue) Holder(seq uint64) *Set {
	for _, s := range q.Sets {
		if w, _ := s.has(seq); w != nil {
			return s
		}
	}
	return nil
}

// Marks returns the state that a live message takes along when it is moved.
func (s *Set) Marks(seq uint64) (m format.Marks) {
	w, bit := s.has(seq)
	m.Flags = format.FlagMoved
	if w.delivered&bit != 0 {
		m.Flags |= format.FlagRedelivered
	}
	if w.released&bit != 0 {
		m.Flags |= format.FlagReleased
		m.TTLThen = s.ttlThen(seq)
	}
	if s.isDeferred(seq) {
		m.Flags |= format.FlagDeferred
	}
	m.Returns, m.Until = s.returns(seq), s.until[seq]
	return m
}

// Apply applies a run; false if it changes nothing, so that it need not be written.
func (x *Index) Apply(q *Queue, r *store.Record) bool {
	switch r.Kind {
	case store.Remove:
		x.Copies.remove(q.Id, r.First, r.Last)
		return q.Remove(r.First, r.Last) > 0
	case store.Retire:
		x.Copies.remove(q.Id, 0, math.MaxUint64)
		for _, s := range q.Sets {
			s.Seg.count(-s.Live, -s.bytes)
		}
		_, named := x.Names[q.Id]
		delete(x.Names, q.Id)
		found := len(q.Sets) > 0
		*q = Queue{Id: q.Id}
		return found || named
	case store.Delivered:
		return q.mark(r, (*Set).deliver)
	case store.Returned:
		return q.mark(r, func(s *Set, first, last uint64) int { return s.comeBack(first, last, message.FailedOnce) })
	case store.GivenBack:
		return q.mark(r, func(s *Set, first, last uint64) int { return s.comeBack(first, last, message.GivenBackOnce) })
	case store.Released:
		return q.mark(r, func(s *Set, first, last uint64) int { return s.markReleased(first, last, r.TTLThen) })
	case store.Deferred:
		return q.mark(r, (*Set).markDeferred)
	case store.Postponed:
		return q.mark(r, func(s *Set, first, last uint64) int { return s.postpone(first, last, r.Until) })
	case store.Rescheduled:
		s := q.Holder(r.First)
		if s != nil {
			s.setDue(r.First, r.Due)
		}
		return s != nil
	case store.Named:
		if x.Names[q.Id] == r.Name() {
			return false
		}
		x.Names[q.Id] = r.Name()
		return true
	case store.Put, store.Spill, store.Applied: // not runs of messages
	}
	return false
}

// mark calls do for the sets until it has counted all messages of a run; false if none of them is live.
func (q *Queue) mark(r *store.Record, do func(s *Set, first, last uint64) int) bool {
	n := 0
	for _, s := range q.Sets {
		if n += do(s, r.First, r.Last); uint64(n) == r.Last-r.First+1 {
			break
		}
	}
	return n > 0
}

// Replay applies a record of the log. Spills are forgotten.
func (x *Index) Replay(seg *Segment, e *format.Entry) {
	if e.Record.Kind == store.Applied {
		x.Applied = e.Record.Last
		return
	}
	q := x.Queue(e.Queue)
	switch {
	case e.Record.Kind == store.Spill:
	case e.Record.Kind != store.Put:
		x.Apply(q, &e.Record)
	case e.Flags&format.FlagMoved != 0:
		q.Move(seg, e.Record.First, false, e.Size, e.Marks)
	default:
		q.Put(seg, e.Record.First, false, e.Size)
	}
}

// ForgetSpills removes all spilled messages.
func (x *Index) ForgetSpills() {
	for id, q := range x.Queues {
		for _, s := range q.Sets {
			if s.spill {
				s.Seg.count(-s.Live, -s.bytes)
				s.Live = 0
			}
		}
		if q.Drop(); len(q.Sets) == 0 {
			delete(x.Queues, id)
		}
	}
}
