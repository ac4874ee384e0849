package backlog

import (
	"iter"
	"math/bits"
)

// list holds the segments of a priority.
type list struct {
	// head and tail are the first and last segment with ready messages, in queue order; 0 if nothing is ready.
	head, tail uint32
	// hint is the listed segment at which to start looking for a position in the list; 0 if none.
	hint uint32
	// open is the segment being filled, the last in queue order; 0 before the first message.
	open uint32
	// first is the first segment in use, ready or not; 0 before the first message.
	first uint32
	// count is the number of messages, ready and taken.
	count uint32
	// long: the queue has outgrown a small array.
	long bool
}

// list returns the list of a priority, created if necessary.
func (t *table) list(priority uint8) *list {
	if int(priority) >= len(t.lists) {
		t.lists = append(t.lists, make([]list, int(priority)+1-len(t.lists))...)
	}
	return &t.lists[priority]
}

// highest returns the highest priority with ready messages; there must be one.
func (t *table) highest() int {
	for i := len(t.priorities) - 1; ; i-- {
		if p := t.priorities[i]; p != 0 {
			return i<<6 + bits.Len64(p) - 1
		}
	}
}

// markReady makes h ready.
func (t *table) markReady(h Handle, e *Entry) {
	s := h >> segmentBits
	seg := &t.segments[s]
	if seg.ready == 0 {
		t.enlist(s, seg)
	}
	seg.ready |= bit(h)
	t.ready++
	t.readyBytes += int64(e.body)
}

// unmarkReady makes h, which must be ready, taken.
func (t *table) unmarkReady(h Handle, e *Entry) {
	s := h >> segmentBits
	seg := &t.segments[s]
	seg.ready &^= bit(h)
	if seg.ready == 0 {
		t.delist(seg)
	}
	t.ready--
	t.readyBytes -= int64(e.body)
}

// enlist inserts a segment into the list of segments with ready messages. Messages are pushed into the last segment and
// usually return in a row, so the position is at the end or near the last one found.
func (t *table) enlist(s uint32, seg *segment) {
	l := &t.lists[seg.priority]
	t.priorities[seg.priority>>6] |= 1 << (seg.priority & 63)
	var next uint32
	prev := l.tail
	if prev != 0 && t.segments[prev].order > seg.order {
		prev, next = t.place(l, seg.order)
		l.hint = s
	}
	seg.prev, seg.next = prev, next
	if prev == 0 {
		l.head = s
	} else {
		t.segments[prev].next = s
	}
	if next == 0 {
		l.tail = s
	} else {
		t.segments[next].prev = s
	}
}

// place returns the listed segments before and after order; there must be one after it.
func (t *table) place(l *list, order uint64) (prev, next uint32) {
	next = l.hint
	if next == 0 {
		next = l.head
	}
	for t.segments[next].order < order {
		next = t.segments[next].next
	}
	for prev = t.segments[next].prev; prev != 0 && t.segments[prev].order > order; prev = t.segments[next].prev {
		next = prev
	}
	return prev, next
}

// delist removes a segment without ready messages from the list.
func (t *table) delist(seg *segment) {
	l := &t.lists[seg.priority]
	prev, next := seg.prev, seg.next
	if prev == 0 {
		l.head = next
	} else {
		t.segments[prev].next = next
	}
	if next == 0 {
		l.tail = prev
	} else {
		t.segments[next].prev = prev
	}
	if l.hint != 0 && &t.segments[l.hint] == seg {
		l.hint = next
	}
	if l.head == 0 {
		t.priorities[seg.priority>>6] &^= 1 << (seg.priority & 63)
	}
}

// heads returns the first ready message of each priority.
func (t *table) heads() iter.Seq[Handle] {
	return func(yield func(h Handle) bool) {
		for i, word := range t.priorities {
			for ; word != 0; word &= word - 1 {
				s := t.lists[i<<6+bits.TrailingZeros64(word)].head
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(t.segments[s].ready))) {
					return
				}
			}
		}
	}
}

// Oldest returns the ready message with the lowest Seq, provided that each priority is in the order of Seq.
func (b *Backlog) Oldest() (h Handle, ok bool) {
	lowest := uint64(0)
	for first := range b.table.heads() {
		if seq := b.Entry(first).Seq; !ok || seq < lowest {
			h, lowest, ok = first, seq, true
		}
	}
	return h, ok
}

// Walk yields the ready messages in the order of First. During the walk, the message just yielded may be taken or
// removed; nothing else may change.
func (b *Backlog) Walk(yield func(h Handle) bool) {
	for priority := len(b.table.lists) - 1; priority >= 0; priority-- {
		for s := b.table.lists[priority].head; s != 0; {
			ready, next := b.table.segments[s].ready, b.table.segments[s].next
			for ; ready != 0; ready &= ready - 1 {
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(ready))) {
					return
				}
			}
			s = next
		}
		if b.table.count == 0 {
			return
		}
	}
}
