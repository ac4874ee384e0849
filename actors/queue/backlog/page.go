package backlog

// A paged-out message keeps its entry; its content is in a journal, at the place stored here. The times from the
// content take the place of the fields that located it:
//
//	enqueue time, wall ms, 48 bits: size (high), block (low)
//	TTL+1, 48 bits: offset (high), more (low)

// maxTTL is the TTL that fits, in ms: 8,919 years.
const maxTTL = 1<<48 - 2

// SetPlace sets the place of h in the journal, 0 for none.
func (b *Backlog) SetPlace(h Handle, place uint64) {
	seg := &b.table.segments[h>>segmentBits]
	i := int(h & segmentMask)
	if i >= len(seg.stored) {
		b.table.size -= seg.size()
		seg.makePlaces()
		b.table.size += seg.size()
	}
	seg.stored[i] = place
}

// makePlaces allocates the places of all entries.
func (seg *segment) makePlaces() {
	if len(seg.entries) < segmentSize {
		seg.stored = append(make([]uint64, 0, len(seg.entries)), seg.stored...)[:len(seg.entries)]
		return
	}
	full := places.Get().(*[segmentSize]uint64)
	clear(full[copy(full[:], seg.stored):])
	seg.stored = full[:]
}

// Place returns the place of h in the journal, 0 for none.
func (b *Backlog) Place(h Handle) uint64 {
	seg := &b.table.segments[h>>segmentBits]
	if i := int(h & segmentMask); i < len(seg.stored) {
		return seg.stored[i]
	}
	return 0
}

// PushPaged is Push for a message whose content is at place in the journal. body is the length of its body in bytes.
func (b *Backlog) PushPaged(r *Record, body uint32, place uint64) Handle {
	h := b.table.claim(r.Priority)
	e := b.Entry(h)
	*e = Entry{
		Deadline: r.Deadline, Seq: r.Seq, Returns: r.Returns,
		Redelivered: r.Redelivered, Stored: r.Stored, body: body,
	}
	b.SetPlace(h, place)
	b.bytes += int64(body)
	countStored(b, e, 1)
	b.unload(h, e, r.Enqueued, r.TTL)
	b.table.markReady(h, e)
	return h
}

// PageOut drops the content of h, which must be in memory and have a place. Slices from Get stay valid.
func (b *Backlog) PageOut(h Handle) {
	if b.IsPaged(h) || b.Place(h) == 0 {
		panic("backlog: PageOut of a message without content or place")
	}
	enqueued, ttl := b.Times(h)
	e := b.Entry(h)
	b.table.segments[h>>segmentBits].paged |= bit(h) // first, so that squeeze skips it
	b.empty(h, e)
	b.unload(h, e, enqueued, ttl)
}

// unload changes an entry without content to a paged-out one.
func (b *Backlog) unload(h Handle, e *Entry, enqueued, ttl int64) {
	e.flags = 0
	e.block, e.size = uint32(enqueued), uint16(enqueued>>32)
	ttl = min(ttl, maxTTL) + 1
	e.more, e.offset = uint32(ttl), uint16(ttl>>32)
	b.table.segments[h>>segmentBits].paged |= bit(h)
	b.paged++
	b.pagedBytes += int64(e.body)
}

// PageIn stores the content of r, its published part and overlay, for h, which is paged out. The length of the body
// must be the same as before.
func (b *Backlog) PageIn(h Handle, r *Record) {
	e := b.Entry(h)
	if !b.IsPaged(h) || len(r.Body) != int(e.body) {
		panic("backlog: PageIn of a message that is not paged out, or of another one")
	}
	r.Enqueued, r.TTL = b.Times(h)
	b.table.segments[h>>segmentBits].paged &^= bit(h)
	b.paged--
	b.pagedBytes -= int64(e.body)
	e.flags, e.size, e.offset = 0, 0, 0
	b.fill(h, e, r)
}

// IsPaged reports whether h, which is in use, is paged out.
func (b *Backlog) IsPaged(h Handle) bool { return b.table.segments[h>>segmentBits].paged&bit(h) != 0 }

// Has reports whether h is in use for the message with the given Seq.
func (b *Backlog) Has(h Handle, seq uint64) bool {
	s := int(h >> segmentBits)
	return s < len(b.table.segments) && b.table.segments[s].used&bit(h) != 0 && b.table.segments[s].entries[h&segmentMask].Seq == seq
}

// Times returns Record.Enqueued and Record.TTL of h, paged out or not.
func (b *Backlog) Times(h Handle) (enqueued, ttl int64) {
	if !b.IsPaged(h) {
		var r Record
		b.Get(h, &r)
		return r.Enqueued, r.TTL
	}
	e := b.Entry(h)
	return Enqueued(b, h), (int64(e.offset)<<32 | int64(e.more)) - 1
}

// Paged returns the number of paged-out messages.
func (b *Backlog) Paged() int { return int(b.paged) }

// PagedBytes returns the total length of their bodies.
func (b *Backlog) PagedBytes() int64 { return b.pagedBytes }

// Contents returns the size of the contents in memory, including contents shared with other queues.
func (b *Backlog) Contents() int64 { return b.slab.live + b.kept.bytes + b.kept.shared + b.rare.size() }

// Held returns the bytes of memory allocated for Contents, and for the entry deadlines of retimed messages.
func (b *Backlog) Held() int64 { return b.slab.held + b.kept.bytes + b.kept.shared + b.rare.memory() }

// Counted returns the part of Held that Budget does not include.
func (b *Backlog) Counted() int64 { return b.slab.held + b.kept.counted + b.rare.memory() }
