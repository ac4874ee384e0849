package backlog

import (
	"encoding/binary"
	"math/bits"
)

// Enqueued returns Record.Enqueued of h, paged out or not.
func Enqueued(b *Backlog, h Handle) int64 {
	e := b.Entry(h)
	switch {
	case b.IsPaged(h):
		return int64(e.size)<<32 | int64(e.block)
	case e.flags&flagKept != 0:
		return b.kept.items[e.block-1].enqueued
	}
	return int64(binary.LittleEndian.Uint64(b.slab.blocks[e.block].data[int(e.offset)+enqueuedAt:]))
}

// OldestReady returns the least enqueue time, in wall ms, of the first ready message of each priority; 0 if none is
// ready (AGE-2).
func OldestReady(b *Backlog) (ms int64) {
	for h := range b.table.heads() {
		ms = earlier(ms, Enqueued(b, h))
	}
	return ms
}

// earlier returns the lower of two times; 0 stands for no time.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// maxPassed is the number of messages that OldestHeld passes over.
const maxPassed = 1 << 16

// OldestHeld is OldestReady of ready and unacked messages: of each priority, it considers the first that is neither
// deferred nor ended (AGE-2). If more than maxPassed others precede it, it is not found.
func OldestHeld(b *Backlog) (ms int64) {
	ms, left := OldestReady(b), maxPassed
	for i := range b.table.lists {
		if h := b.table.firstHeld(b.table.lists[i].first, &left); h != 0 {
			ms = earlier(ms, Enqueued(b, h))
		}
	}
	return ms
}

// firstHeld returns the first message, from segment s on, that is neither deferred nor ended; 0 if there is none.
func (t *table) firstHeld(s uint32, left *int) Handle {
	for ; s != 0 && *left > 0; s = t.segments[s].newer {
		seg := &t.segments[s]
		for used := seg.used; used != 0; used &= used - 1 {
			i := bits.TrailingZeros64(used)
			if seg.entries[i].Marks&(Deferred|Ended) == 0 {
				return s<<segmentBits | uint32(i)
			}
			*left--
		}
	}
	return 0
}
