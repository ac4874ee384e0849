package backlog

import (
	"math"
	"math/bits"
)

// overhead is the estimated size of a short message without its body.
const overhead = 64

// average returns the approximate memory use of a ready message, in bytes.
func (t *table) average() int64 { return overhead + t.readyBytes/int64(max(t.ready, 1)) }

// Window is the front part of the queue, which will be delivered soon.
type Window struct {
	priority int
	order    uint64
	// last is the bitmap of its last segment.
	last uint64
}

// Window returns the window of messages from the first one on, about the given number of bytes.
func (b *Backlog) Window(bytes int64) Window {
	n := int(max(bytes, 0) / b.table.average())
	for priority := len(b.table.lists) - 1; priority >= 0; priority-- {
		for s := b.table.lists[priority].head; s != 0; s = b.table.segments[s].next {
			ready := b.table.segments[s].ready
			if more := bits.OnesCount64(ready); more <= n {
				n -= more
				continue
			}
			rest := ready
			for ; n > 0; n-- {
				rest &= rest - 1
			}
			return Window{priority, b.table.segments[s].order, ready &^ rest}
		}
	}
	return Window{priority: -1} // all messages
}

// Within reports whether h is ready and in the window w.
func (b *Backlog) Within(h Handle, w Window) bool {
	return b.IsReady(h) && w.in(&b.table.segments[h>>segmentBits])&bit(h) != 0
}

// in returns the bitmap of seg's places in the window.
func (w Window) in(seg *segment) uint64 {
	switch {
	case int(seg.priority) > w.priority, int(seg.priority) == w.priority && seg.order < w.order:
		return math.MaxUint64
	case int(seg.priority) == w.priority && seg.order == w.order:
		return w.last
	}
	return 0
}

// Trimming is the progress of paging contents out.
type Trimming struct {
	At   Handle // where to continue, 0 if not running
	Left int64  // bytes of contents that were left in memory at its end
}

// Trim calls f for messages whose content is in memory, except ready ones in w, in no particular order, starting at
// place from (1 is the first), and returns the place at which to continue, 0 at the end. It stops after about limit
// messages, or when f returns false. f may page its message out, but not push or remove any.
func (b *Backlog) Trim(from Handle, limit int, w Window, f func(h Handle) bool) (next Handle) {
	s := from >> segmentBits
	for ; int(s) < len(b.table.segments); s++ {
		if limit <= 0 {
			return max(s<<segmentBits, 1)
		}
		seg := &b.table.segments[s]
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

// Ahead yields the paged-out ready messages in order, if fewer than about the given bytes of other messages precede the
// first of them; it returns the bytes that do. yield may change only an entry.
func (b *Backlog) Ahead(bytes int64, yield func(h Handle) bool) (before int64) {
	found, each := false, b.table.average()
	for priority := len(b.table.lists) - 1; priority >= 0; priority-- {
		for s := b.table.lists[priority].head; s != 0; s = b.table.segments[s].next {
			seg := &b.table.segments[s]
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
