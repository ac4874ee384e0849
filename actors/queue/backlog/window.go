package backlog

import (
	"math"
	"math/bits"
)

// overhead is the size of a short message besides its body, for estimates.
const overhead = 64

// average is about how much memory a ready message takes.
func (b *Backlog) average() int64 { return overhead + b.readyBytes/int64(max(b.ready, 1)) }

// Window is a place in the queue: what is before it is soon to be delivered.
type Window struct {
	priority int
	order    uint64
	// last marks those of its last segment.
	last uint64
}

// Window returns the place behind about so many bytes of messages from the first one.
func (b *Backlog) Window(bytes int64) Window {
	n := int(max(bytes, 0) / b.average())
	for priority := len(b.lists) - 1; priority >= 0; priority-- {
		for s := b.lists[priority].head; s != 0; s = b.segments[s].next {
			ready := b.segments[s].ready
			if more := bits.OnesCount64(ready); more <= n {
				n -= more
				continue
			}
			rest := ready
			for ; n > 0; n-- {
				rest &= rest - 1
			}
			return Window{priority, b.segments[s].order, ready &^ rest}
		}
	}
	return Window{priority: -1} // all of them
}

// Within tells whether h is ready and in the window w.
func (b *Backlog) Within(h Handle, w Window) bool {
	return b.IsReady(h) && w.in(&b.segments[h>>segmentBits])&bit(h) != 0
}

// in marks the places of seg that are in the window.
func (w Window) in(seg *segment) uint64 {
	switch {
	case int(seg.priority) > w.priority, int(seg.priority) == w.priority && seg.order < w.order:
		return math.MaxUint64
	case int(seg.priority) == w.priority && seg.order == w.order:
		return w.last
	}
	return 0
}

// Trimming is how far its owner has come with letting contents leave memory.
type Trimming struct {
	At   Handle // where it goes on, 0 when it does not
	Left int64  // bytes of contents that were left when it was through
}

// Trim calls f for messages whose content is in memory, apart from the ready ones in w, in no particular order, from the
// place named from on, and returns the place where to go on, 0 when it is through; 1 names the first place. It stops after
// about limit messages, or when f returns false. f may page its message out, but not push or remove any.
func (b *Backlog) Trim(from Handle, limit int, w Window, f func(h Handle) bool) (next Handle) {
	s := from >> segmentBits
	for ; int(s) < len(b.segments); s++ {
		if limit <= 0 {
			return max(s<<segmentBits, 1)
		}
		seg := &b.segments[s]
		there := seg.used &^ seg.paged &^ (seg.ready & w.in(seg))
		limit -= 1 + bits.OnesCount64(there)
		for ; there != 0; there &= there - 1 {
			if !f(s<<segmentBits | uint32(bits.TrailingZeros64(there))) {
				return max(s<<segmentBits, 1)
			}
		}
	}
	return 0
}

// Ahead yields the ready messages that are paged out, in order, if the first of them stands behind fewer than about so many
// bytes of others; it returns those bytes. yield may not change anything but an entry.
func (b *Backlog) Ahead(bytes int64, yield func(h Handle) bool) (before int64) {
	found, each := false, b.average()
	for priority := len(b.lists) - 1; priority >= 0; priority-- {
		for s := b.lists[priority].head; s != 0; s = b.segments[s].next {
			seg := &b.segments[s]
			paged := seg.ready & seg.paged
			if !found {
				if before += each * int64(bits.OnesCount64(seg.ready&^seg.paged)); paged == 0 && before >= bytes {
					return before
				}
			}
			found = found || paged != 0
			for ; paged != 0; paged &= paged - 1 {
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(paged))) {
					return before
				}
			}
		}
	}
	return before
}
