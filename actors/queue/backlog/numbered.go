package backlog

import (
	"math/bits"
	"sort"
)

// Disorder has to be called when a message was pushed with a lower Seq than an earlier message.
func Disorder(b *Backlog) { withRare(b).disorder = true }

// Ordered reports whether the messages of each priority are in the order of their Seq.
func Ordered(b *Backlog) bool { return b.rare == nil || !b.rare.disorder }

// From yields ready messages with a Seq above after: the first limit of each priority, the priorities in no order. The
// backlog must be Ordered, and must not change during the walk.
func From(b *Backlog, after uint64, limit int, yield func(h Handle)) {
	for priority := range b.table.lists {
		b.table.from(b.table.lists[priority].head, after, limit, yield)
	}
}

// from is From for the list of one priority.
func (t *table) from(s uint32, after uint64, limit int, yield func(h Handle)) {
	for ; s != 0; s = t.segments[s].next {
		seg := &t.segments[s]
		ready := seg.ready
		if last := bits.Len64(ready) - 1; seg.entries[last].Seq <= after {
			continue
		}
		for ; ready != 0; ready &= ready - 1 {
			k := bits.TrailingZeros64(ready)
			if seg.entries[k].Seq <= after {
				continue
			}
			if yield(s<<segmentBits | uint32(k)); limit <= 1 {
				return
			}
			limit--
		}
	}
}

// From yields messages with a Seq above after: the first limit of each priority, the priorities in no order. The
// backlog must not change during the walk.
func (f *Findable) From(after uint64, limit int, yield func(h Handle)) {
	for _, list := range f.places {
		left := limit
		for i := max(sort.Search(len(list), func(i int) bool { return list[i].first > after })-1, 0); i < len(list) && left > 0; i++ {
			if !f.current(list[i]) {
				continue
			}
			s := list[i].segment
			for used := f.Backlog.table.segments[s].used; used != 0 && left > 0; used &= used - 1 {
				k := bits.TrailingZeros64(used)
				if f.Backlog.table.segments[s].entries[k].Seq > after {
					yield(s<<segmentBits | uint32(k))
					left--
				}
			}
		}
	}
}
