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

// claim assigns the next place of a priority.
func (b *Backlog) claim(priority uint8) Handle {
	l := b.list(priority)
	if l.open == 0 || b.segments[l.open].filled == segmentSize {
		open(b, l, priority)
	}
	s := l.open
	seg := &b.segments[s]
	if int(seg.filled) == len(seg.entries) {
		b.tables -= seg.size()
		seg.grow(l.long)
		b.tables += seg.size()
	}
	h := s<<segmentBits | uint32(seg.filled)
	if int(seg.filled) < len(seg.stored) {
		seg.stored[seg.filled] = 0
	}
	seg.filled++
	seg.used |= bit(h)
	l.count++
	l.long = l.long || seg.filled > smallSegment
	return h
}

// open starts a segment, the last of a priority.
func open(b *Backlog, l *list, priority uint8) {
	s := b.newSegment(priority)
	if b.segments[s].older = l.open; l.open == 0 {
		l.first = s
	} else {
		b.segments[l.open].newer = s
	}
	l.open = s
}

// unlink removes a segment, which is not the last of its priority, from the segments in use.
func unlink(b *Backlog, l *list, seg *segment) {
	b.segments[seg.newer].older = seg.older
	if seg.older == 0 {
		l.first = seg.newer
	} else {
		b.segments[seg.older].newer = seg.newer
	}
}

// newSegment returns a free segment header, or a new one.
func (b *Backlog) newSegment(priority uint8) uint32 {
	if len(b.segments) == 0 {
		b.segments = make([]segment, 1, 2)
	}
	s := b.freeSegments
	if s != 0 {
		b.freeSegments = b.segments[s].next
	} else {
		s = uint32(len(b.segments))
		b.segments = append(b.segments, segment{})
	}
	b.order++
	b.tables -= b.segments[s].size()
	b.segments[s] = segment{order: b.order, priority: priority}
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
func release(b *Backlog, seg *segment) {
	b.tables -= seg.size()
	if len(seg.stored) == segmentSize {
		places.Put((*[segmentSize]uint64)(seg.stored))
		seg.stored = nil
	}
	if len(seg.entries) == segmentSize {
		arrays.Put((*[segmentSize]Entry)(seg.entries))
		seg.entries = nil
	}
	b.tables += seg.size()
}

// vacate is called after a message of segment s was removed. A segment without messages is released, unless it is being
// filled: then it is reused from its start, and keeps its array as long as the priority has messages.
func (b *Backlog) vacate(s uint32) {
	seg := &b.segments[s]
	l := &b.lists[seg.priority]
	l.count--
	switch {
	case seg.used != 0:
		return
	case s != l.open:
		unlink(b, l, seg)
		release(b, seg)
		seg.next, b.freeSegments = b.freeSegments, s
	default:
		l.long = l.count > 0 || seg.filled > smallSegment
		seg.filled = 0
		b.order++ // its places count as new: see Spot
		seg.order = b.order
	}
	if l.count == 0 {
		release(b, &b.segments[l.open])
	}
	if b.rare != nil {
		delete(b.rare.retimed, s)
	}
	if b.count == 0 {
		b.rare = nil
		if len(b.segments) > keepSegments {
			b.segments, b.freeSegments, b.lists, b.tables = nil, 0, nil, 0
		}
	}
}

// Memory returns the bytes that the backlog uses, contents included, except shared ones; only the amendments of
// overlays count.
func (b *Backlog) Memory() int64 {
	return int64(b.tables)*8 +
		int64(cap(b.segments))*int64(unsafe.Sizeof(segment{})) +
		int64(cap(b.lists))*int64(unsafe.Sizeof(list{})) +
		b.slab.memory() + b.kept.memory() + b.rare.memory()
}

// size returns the size of the arrays in units of 8 bytes.
func (seg *segment) size() uint32 {
	return uint32(len(seg.entries)*int(unsafe.Sizeof(Entry{})/8) + len(seg.stored))
}
