package segment

import (
	"slices"
	"sort"

	"candlemark/internal/store"
)

// index knows what lives where. It is changed in the order of the log only, by the
// encoder or by replay, under the log's lock.
type index struct {
	queues  map[store.QueueID]*queue
	names   map[store.QueueID]store.Name
	highest store.QueueID // ever seen
}

// queue indexes what lives of a queue: one set for each segment (and another for spilled
// messages), in the order in which they were begun.
type queue struct {
	id   store.QueueID
	sets []*set
	// tail is the set that puts go to, and the one for spills.
	tail [2]*set
}

func newIndex() *index {
	return &index{queues: map[store.QueueID]*queue{}, names: map[store.QueueID]store.Name{}}
}

// queue returns what is known of a queue, which is made if it is new.
func (x *index) queue(id store.QueueID) *queue {
	q := x.queues[id]
	if q == nil {
		q = &queue{id: id}
		x.queues[id] = q
		x.highest = max(x.highest, id)
	}
	return q
}

// put notes a message that has so many bytes in a segment.
func (q *queue) put(seg *segment, seq uint64, spill bool, size int64) *set {
	tail := &q.tail[0]
	if spill {
		tail = &q.tail[1]
	}
	s := *tail
	if s == nil || s.seg != seg {
		s = &set{seg: seg, spill: spill}
		q.sets = append(q.sets, s)
		*tail = s
	}
	live, bytes := s.live, s.bytes
	s.add(seq, size)
	seg.count(s.live-live, s.bytes-bytes)
	return s
}

// move notes a message at its new place with the marks of the old one; false if it
// is not live any more.
func (q *queue) move(seg *segment, seq uint64, spill bool, size int64, m marks) {
	q.remove(seq, seq)
	s := q.put(seg, seq, spill, size)
	if m.flags&flagRedelivered != 0 {
		s.deliver(seq, seq)
	}
	if m.flags&flagReleased != 0 {
		s.markReleased(seq, seq)
	}
	if m.deliveries > 0 {
		s.count(seq, m.deliveries)
	}
}

// remove takes a run out of all sets and returns how many were live.
func (q *queue) remove(first, last uint64) (n int) {
	empty := false
	for _, s := range q.sets {
		if low, high := s.bounds(); high < first || low > last {
			continue
		}
		n += s.remove(first, last)
		empty = empty || s.live == 0
		if uint64(n) == last-first+1 {
			break
		}
	}
	if empty {
		q.drop()
	}
	return n
}

// drop forgets sets in which nothing lives.
func (q *queue) drop() {
	q.sets = slices.DeleteFunc(q.sets, func(s *set) bool { return s.live == 0 })
	for i, s := range q.tail {
		if s != nil && s.live == 0 {
			q.tail[i] = nil
		}
	}
}

// at tells whether a message lives in a segment. The sets are in the order of the
// segments.
func (q *queue) at(segment, seq uint64) bool {
	i := sort.Search(len(q.sets), func(i int) bool { return q.sets[i].seg.seq >= segment })
	for ; i < len(q.sets) && q.sets[i].seg.seq == segment; i++ {
		if w, _ := q.sets[i].has(seq); w != nil {
			return true
		}
	}
	return false
}

// moving tells whether a message lives in any segment. Until its new place is durable
// readers have the old one.
func (q *queue) moving(seq uint64) bool {
	s, _, _ := q.holder(seq)
	return s != nil
}

// holder returns the set in which a message lives, nil if it does not.
func (q *queue) holder(seq uint64) (*set, *word, uint64) {
	for _, s := range q.sets {
		if w, bit := s.has(seq); w != nil {
			return s, w, bit
		}
	}
	return nil, nil, 0
}

// marksOf returns what a message is to take along when it is moved.
func (s *set) marksOf(w *word, bit, seq uint64) (m marks) {
	m.flags = flagMoved
	if w.delivered&bit != 0 {
		m.flags |= flagRedelivered
	}
	if w.released&bit != 0 {
		m.flags |= flagReleased
	}
	m.deliveries = s.returns(seq)
	return m
}

// apply does what a run says; false if it changes nothing, so that it need not be
// written.
func (x *index) apply(q *queue, r *store.Record) bool {
	switch r.Kind {
	case store.Remove:
		return q.remove(r.First, r.Last) > 0
	case store.Retire:
		for _, s := range q.sets {
			s.seg.count(-s.live, -s.bytes)
		}
		_, named := x.names[q.id]
		delete(x.names, q.id)
		found := len(q.sets) > 0
		*q = queue{id: q.id}
		return found || named
	case store.Delivered:
		return q.mark(r, (*set).deliver)
	case store.Returned:
		return q.mark(r, (*set).giveBack)
	case store.Released:
		return q.mark(r, (*set).markReleased)
	case store.Rescheduled:
		s, _, _ := q.holder(r.First)
		if s != nil {
			s.setDue(r.First, r.Due)
		}
		return s != nil
	case store.Named:
		if x.names[q.id] == r.Name() {
			return false
		}
		x.names[q.id] = r.Name()
		return true
	case store.Put, store.Spill: // are not runs
	}
	return false
}

// mark does something with what lives of a run; false if nothing does.
func (q *queue) mark(r *store.Record, do func(s *set, first, last uint64) int) bool {
	n := 0
	for _, s := range q.sets {
		if n += do(s, r.First, r.Last); uint64(n) == r.Last-r.First+1 {
			break
		}
	}
	return n > 0
}

// replay applies a record of the log. Spills are forgotten.
func (x *index) replay(seg *segment, e *entry) {
	q := x.queue(e.queue)
	switch {
	case e.record.Kind == store.Spill:
	case e.record.Kind != store.Put:
		x.apply(q, &e.record)
	case e.flags&flagMoved != 0:
		q.move(seg, e.record.First, false, e.size, e.marks)
	default:
		q.put(seg, e.record.First, false, e.size)
	}
}
