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
func (b *Backlog) list(priority uint8) *list {
	if int(priority) >= len(b.lists) {
		b.lists = append(b.lists, make([]list, int(priority)+1-len(b.lists))...)
	}
	return &b.lists[priority]
}

// highest returns the highest priority with ready messages; there must be one.
func (b *Backlog) highest() int {
	for i := len(b.priorities) - 1; ; i-- {
		if p := b.priorities[i]; p != 0 {
			return i<<6 + bits.Len64(p) - 1
		}
	}
}

// markReady makes h ready.
func (b *Backlog) markReady(h Handle, e *Entry) {
	s := h >> segmentBits
	seg := &b.segments[s]
	if seg.ready == 0 {
		b.enlist(s, seg)
	}
	seg.ready |= bit(h)
	b.ready++
	b.readyBytes += int64(e.body)
}

// unmarkReady makes h, which must be ready, taken.
func (b *Backlog) unmarkReady(h Handle, e *Entry) {
	s := h >> segmentBits
	seg := &b.segments[s]
	seg.ready &^= bit(h)
	if seg.ready == 0 {
		b.delist(seg)
	}
	b.ready--
	b.readyBytes -= int64(e.body)
}

// enlist inserts a segment into the list of segments with ready messages. Messages are pushed into the last segment and
// usually return in a row, so the position is at the end or near the last one found.
func (b *Backlog) enlist(s uint32, seg *segment) {
	l := &b.lists[seg.priority]
	b.priorities[seg.priority>>6] |= 1 << (seg.priority & 63)
	var next uint32
	prev := l.tail
	if prev != 0 && b.segments[prev].order > seg.order {
		prev, next = b.place(l, seg.order)
		l.hint = s
	}
	seg.prev, seg.next = prev, next
	if prev == 0 {
		l.head = s
	} else {
		b.segments[prev].next = s
	}
	if next == 0 {
		l.tail = s
	} else {
		b.segments[next].prev = s
	}
}

// place returns the listed segments before and after order; there must be one after it.
func (b *Backlog) place(l *list, order uint64) (prev, next uint32) {
	next = l.hint
	if next == 0 {
		next = l.head
	}
	for b.segments[next].order < order {
		next = b.segments[next].next
	}
	for prev = b.segments[next].prev; prev != 0 && b.segments[prev].order > order; prev = b.segments[next].prev {
		next = prev
	}
	return prev, next
}

// delist removes a segment without ready messages from the list.
func (b *Backlog) delist(seg *segment) {
	l := &b.lists[seg.priority]
	prev, next := seg.prev, seg.next
	if prev == 0 {
		l.head = next
	} else {
		b.segments[prev].next = next
	}
	if next == 0 {
		l.tail = prev
	} else {
		b.segments[next].prev = prev
	}
	if l.hint != 0 && &b.segments[l.hint] == seg {
		l.hint = next
	}
	if l.head == 0 {
		b.priorities[seg.priority>>6] &^= 1 << (seg.priority & 63)
	}
}

// Oldest returns the ready message with the lowest Seq, provided that each priority is in the order of Seq.
func (b *Backlog) Oldest() (h Handle, ok bool) {
	lowest := uint64(0)
	for first := range heads(b) {
		if seq := b.Entry(first).Seq; !ok || seq < lowest {
			h, lowest, ok = first, seq, true
		}
	}
	return h, ok
}

// heads returns the first ready message of each priority.
func heads(b *Backlog) iter.Seq[Handle] {
	return func(yield func(h Handle) bool) {
		for i, word := range b.priorities {
			for ; word != 0; word &= word - 1 {
				s := b.lists[i<<6+bits.TrailingZeros64(word)].head
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(b.segments[s].ready))) {
					return
				}
			}
		}
	}
}

// Walk yields the ready messages in the order of First. During the walk, the message just yielded may be taken or
// removed; nothing else may change.
func (b *Backlog) Walk(yield func(h Handle) bool) {
	for priority := len(b.lists) - 1; priority >= 0; priority-- {
		for s := b.lists[priority].head; s != 0; {
			ready, next := b.segments[s].ready, b.segments[s].next
			for ; ready != 0; ready &= ready - 1 {
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(ready))) {
					return
				}
			}
			s = next
		}
		if b.count == 0 {
			return
		}
	}
}
