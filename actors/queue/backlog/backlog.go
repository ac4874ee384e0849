package backlog

import (
	"math/bits"

	"candlemark/actors/queue/wheel"
	"candlemark/internal/transport/budget"
)

// Backlog holds the messages of one queue (TTL-30). It belongs to one goroutine. The zero value is empty and ready to use.
type Backlog struct {
	// Budget counts large contents, once for all queues that share them; nil for no accounting. It has to be set
	// first.
	Budget *budget.Budget

	table table
	slab  slab
	kept  kept
	rare  *rareParts // nil if there are none

	paged, stored                  uint32 // messages
	bytes, pagedBytes, storedBytes int64
}

// Push appends r to the ready messages of its priority, and returns its handle. Slices are copied unless r is Shared.
func (b *Backlog) Push(r *Record) Handle {
	h := b.table.claim(r.Priority)
	e := b.Entry(h)
	*e = Entry{
		Deadline:    r.Deadline,
		Seq:         r.Seq,
		Returns:     r.Returns,
		Redelivered: r.Redelivered,
		Stored:      r.Stored,
		body:        uint32(len(r.Body)),
	}
	b.fill(h, e, r)
	b.bytes += int64(len(r.Body))
	countStored(b, e, 1)
	b.table.markReady(h, e)
	return h
}

// fill stores the content of h in memory.
func (b *Backlog) fill(h Handle, e *Entry, r *Record) {
	e.flags = r.Spread << spreadShift
	if size := recordSize(r); size > maxRecord || r.Shared && size > maxCopied {
		e.flags |= flagKept
		e.block = b.kept.add(r, h, b.Budget)
	} else {
		e.block, e.offset = b.slab.add(r, h, size)
		e.size = uint16(size)
	}
	if r.Overlay != nil {
		b.SetOverlay(h, r.Overlay)
	}
}

// empty drops the content of h.
func (b *Backlog) empty(h Handle, e *Entry) {
	if e.flags&flagOverlay != 0 {
		b.rare.drop(h)
	}
	if e.flags&flagKept != 0 {
		if b.kept.remove(e.block, b.Budget) {
			b.kept.shrink(&b.table)
		}
	} else if b.slab.release(e.block, int(e.size)) {
		b.slab.squeeze(&b.table)
	}
}

// First returns the first ready message of the highest priority that has any.
func (b *Backlog) First() (h Handle, ok bool) {
	if b.table.ready == 0 {
		return 0, false
	}
	s := b.table.lists[b.table.highest()].head
	return s<<segmentBits | uint32(bits.TrailingZeros64(b.table.segments[s].ready)), true
}

// Take takes a ready message: it is no longer counted as ready, and First does not return it.
func (b *Backlog) Take(h Handle) {
	if !b.IsReady(h) {
		panic("backlog: Take of a message that is not ready")
	}
	b.table.unmarkReady(h, b.Entry(h))
}

// Return makes a taken message ready again, at its original position (TTL-16).
func (b *Backlog) Return(h Handle) {
	if seg := &b.table.segments[h>>segmentBits]; seg.used&^seg.ready&bit(h) == 0 {
		panic("backlog: Return of a message that is not taken")
	}
	b.table.markReady(h, b.Entry(h))
}

// Remove removes a message, ready or taken. It must be off the wheel.
func (b *Backlog) Remove(h Handle) {
	seg := &b.table.segments[h>>segmentBits]
	if seg.used&bit(h) == 0 {
		panic("backlog: Remove of an unknown message")
	}
	e := &seg.entries[h&segmentMask]
	if e.Links.Next != 0 {
		panic("backlog: Remove of a message that is on the wheel")
	}
	if seg.ready&bit(h) != 0 {
		b.table.unmarkReady(h, e)
	}
	b.bytes -= int64(e.body)
	countStored(b, e, -1)
	seg.used &^= bit(h)
	if seg.paged&bit(h) != 0 {
		seg.paged &^= bit(h)
		b.paged--
		b.pagedBytes -= int64(e.body)
	} else {
		b.empty(h, e)
	}
	if !b.table.vacate(h >> segmentBits) {
		return
	}
	if b.rare != nil {
		delete(b.rare.retimed, h>>segmentBits)
	}
	if b.table.count == 0 {
		b.rare = nil
		b.table.shrink()
	}
}

// Clear removes all messages at once. None may be on a wheel that remains in use.
func (b *Backlog) Clear() {
	b.kept.leave(b.Budget)
	*b = Backlog{Budget: b.Budget, table: table{order: b.table.order}}
}

// IsReady reports whether h is ready; false for a handle that is not in use.
func (b *Backlog) IsReady(h Handle) bool {
	s := int(h >> segmentBits)
	return s < len(b.table.segments) && b.table.segments[s].ready&bit(h) != 0
}

// Get fills a zero record with the message, which must not be paged out. Its slices are views that stay valid and
// unchanged for ever; they must not be written to.
func (b *Backlog) Get(h Handle, r *Record) {
	seg := &b.table.segments[h>>segmentBits]
	if seg.paged&bit(h) != 0 {
		panic("backlog: Get of a message that is paged out")
	}
	e := &seg.entries[h&segmentMask]
	r.Deadline, r.Seq, r.Returns = e.Deadline, e.Seq, e.Returns
	r.Priority, r.Redelivered, r.Stored = seg.priority, e.Redelivered, e.Stored
	r.Released, r.Spread = e.Marks&Released != 0, e.flags>>spreadShift
	if e.flags&flagKept != 0 {
		b.kept.get(e.block, r)
	} else {
		b.slab.get(e.block, int(e.offset), int(e.size), r)
	}
	if e.flags&flagOverlay != 0 {
		r.Overlay = b.rare.overlays[h]
	}
}

// Entry returns the fixed part of h, in place.
func (b *Backlog) Entry(h Handle) *Entry {
	return b.table.entry(h)
}

// Links implements wheel.Store.
func (b *Backlog) Links(h Handle) *wheel.Links { return &b.Entry(h).Links }

// Deadline implements wheel.Store.
func (b *Backlog) Deadline(h Handle) int64 { return b.Entry(h).Deadline }

// Seq returns Record.Seq of h.
func (b *Backlog) Seq(h Handle) uint64 { return b.Entry(h).Seq }

// Size returns the length in bytes of the body of h.
func (b *Backlog) Size(h Handle) int64 { return int64(b.Entry(h).body) }

// Priority returns the priority at which h is queued.
func (b *Backlog) Priority(h Handle) uint8 { return b.table.segments[h>>segmentBits].priority }

// Len returns the number of messages, ready and taken.
func (b *Backlog) Len() int { return int(b.table.count) }

// Ready returns the number of ready messages.
func (b *Backlog) Ready() int { return int(b.table.ready) }

// countStored adds n, 1 or -1, to the count of stored messages if e is stored.
func countStored(b *Backlog, e *Entry, n int) {
	if e.Stored {
		b.stored = uint32(int(b.stored) + n)
		b.storedBytes += int64(n) * int64(e.body)
	}
}

// SetStored changes whether a message survives a restart.
func (b *Backlog) SetStored(h Handle, stored bool) {
	e := b.Entry(h)
	countStored(b, e, -1)
	e.Stored = stored
	countStored(b, e, 1)
}

// Stored returns the number of messages that survive a restart, and the size of their bodies.
func (b *Backlog) Stored() (messages int, bytes int64) {
	return int(b.stored), b.storedBytes
}

// Bytes returns the total length of the bodies, ready and taken.
func (b *Backlog) Bytes() int64 { return b.bytes }

// ReadyBytes returns the total length of the bodies of ready messages, which x-max-length-bytes limits.
func (b *Backlog) ReadyBytes() int64 { return b.table.readyBytes }
