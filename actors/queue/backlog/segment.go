package backlog

import (
	"sync"
	"unsafe"
)

const (
	segmentBits = 6
	segmentSize = 1 << segmentBits
	segmentMask = segmentSize - 1
	// smallSegment is the number of entries in the first array of a short queue.
	smallSegment = 8
	// keepSegments is the number of segment headers that an empty backlog may keep.
	keepSegments = 64
)

// arrays recycles full-sized entry arrays among all queues, so queues that fill and drain in bursts need not allocate,
// and idle queues keep none. They are not cleared: Push writes the whole entry.
var arrays = sync.Pool{New: func() any { return new([segmentSize]Entry) }}

// places recycles full-sized arrays of places in the journal.
var places = sync.Pool{New: func() any { return new([segmentSize]uint64) }}

// segment is the header of 64 consecutive places of one priority.
type segment struct {
	// used marks the places with a message, ready the places with a ready message, paged the places without content in
	// memory.
	used, ready, paged uint64
	// order increases along the queue.
	order uint64
	// entries has smallSegment or segmentSize places, or none before the first Push.
	entries []Entry
	// stored holds the places in the journal, 0 for none; it may be shorter than entries.
	stored []uint64
	// prev and next are the neighbours with ready messages; next also links the free segments.
	prev, next uint32
	// older and newer are the neighbours in use of the same priority, with ready messages or not, 0 for none.
	older, newer uint32
	// filled is the number of places assigned so far; places are not assigned twice.
	filled   uint8
	priority uint8
}

// bit returns the bit of h in the bitmaps of its segment.
func bit(h Handle) uint64 { return 1 << (h & segmentMask) }

// table has the places of the messages: their entries in segments, their order, and which are ready.
type table struct {
	// segments are named by their index; 0 names no segment.
	segments []segment
	free     uint32 // the first free segment
	size     uint32 // of the arrays of all segments, in units of 8 bytes
	// lists has one list per priority up to the highest seen.
	lists []list
	// priorities has a bit for each priority with ready messages.
	priorities [4]uint64
	// order is the number of the last segment started.
	order uint64

	count, ready uint32 // messages, limited by the number of handles
	readyBytes   int64
}

// entry returns the entry of h.
func (t *table) entry(h Handle) *Entry { return &t.segments[h>>segmentBits].entries[h&segmentMask] }

// present returns the entry of h, nil if h is not in use or is paged out.
func (t *table) present(h Handle) *Entry {
	s := int(h >> segmentBits)
	if s >= len(t.segments) {
		return nil
	}
	if seg := &t.segments[s]; (seg.used&^seg.paged)&bit(h) != 0 {
		return &seg.entries[h&segmentMask]
	}
	return nil
}

// claim assigns the next place of a priority.
func (t *table) claim(priority uint8) Handle {
	l := t.list(priority)
	if l.open == 0 || t.segments[l.open].filled == segmentSize {
		t.open(l, priority)
	}
	s := l.open
	seg := &t.segments[s]
	if int(seg.filled) == len(seg.entries) {
		t.size -= seg.size()
		seg.grow(l.long)
		t.size += seg.size()
	}
	h := s<<segmentBits | uint32(seg.filled)
	if int(seg.filled) < len(seg.stored) {
		seg.stored[seg.filled] = 0
	}
	seg.filled++
	seg.used |= bit(h)
	l.count++
	t.count++
	l.long = l.long || seg.filled > smallSegment
	return h
}

// open starts a segment, the last of a priority.
func (t *table) open(l *list, priority uint8) {
	s := t.newSegment(priority)
	if t.segments[s].older = l.open; l.open == 0 {
		l.first = s
	} else {
		t.segments[l.open].newer = s
	}
	l.open = s
}

// unlink removes a segment, which is not the last of its priority, from the segments in use.
func (t *table) unlink(l *list, seg *segment) {
	t.segments[seg.newer].older = seg.older
	if seg.older == 0 {
		l.first = seg.newer
	} else {
		t.segments[seg.older].newer = seg.newer
	}
}

// newSegment returns a free segment header, or a new one.
func (t *table) newSegment(priority uint8) uint32 {
	if len(t.segments) == 0 {
		t.segments = make([]segment, 1, 2)
	}
	s := t.free
	if s != 0 {
		t.free = t.segments[s].next
	} else {
		s = uint32(len(t.segments))
		t.segments = append(t.segments, segment{})
	}
	t.order++
	t.size -= t.segments[s].size()
	t.segments[s] = segment{order: t.order, priority: priority}
	return s
}

// grow allocates more entries: few at first, unless the queue is long.
func (seg *segment) grow(long bool) {
	if len(seg.entries) == 0 && !long {
		seg.entries = make([]Entry, smallSegment)
		return
	}
	full := arrays.Get().(*[segmentSize]Entry)
	copy(full[:], seg.entries)
	seg.entries = full[:]
}

// release returns the full-sized arrays of a segment to their pools.
func (t *table) release(seg *segment) {
	t.size -= seg.size()
	if len(seg.stored) == segmentSize {
		places.Put((*[segmentSize]uint64)(seg.stored))
		seg.stored = nil
	}
	if len(seg.entries) == segmentSize {
		arrays.Put((*[segmentSize]Entry)(seg.entries))
		seg.entries = nil
	}
	t.size += seg.size()
}

// vacate is called after a message of segment s was removed. A segment without messages is released, unless it is being
// filled: then it is reused from its start, and keeps its array as long as the priority has messages. vacate reports whether the
// segment is empty.
func (t *table) vacate(s uint32) (empty bool) {
	seg := &t.segments[s]
	l := &t.lists[seg.priority]
	l.count--
	t.count--
	switch {
	case seg.used != 0:
		return false
	case s != l.open:
		t.unlink(l, seg)
		t.release(seg)
		seg.next, t.free = t.free, s
	default:
		l.long = l.count > 0 || seg.filled > smallSegment
		seg.filled = 0
		t.order++ // its places count as new: see Spot
		seg.order = t.order
	}
	if l.count == 0 {
		t.release(&t.segments[l.open])
	}
	return true
}

// shrink drops the headers of an empty table if there are many.
func (t *table) shrink() {
	if len(t.segments) > keepSegments {
		t.segments, t.free, t.lists, t.size = nil, 0, nil, 0
	}
}

// Memory returns the bytes that the backlog uses, contents included, except shared ones; only the amendments of
// overlays count.
func (b *Backlog) Memory() int64 {
	return int64(b.table.size)*8 +
		int64(cap(b.table.segments))*int64(unsafe.Sizeof(segment{})) +
		int64(cap(b.table.lists))*int64(unsafe.Sizeof(list{})) +
		b.slab.memory() + b.kept.memory() + b.rare.memory()
}

// size returns the size of the arrays in units of 8 bytes.
func (seg *segment) size() uint32 {
	return uint32(len(seg.entries)*int(unsafe.Sizeof(Entry{})/8) + len(seg.stored))
}
