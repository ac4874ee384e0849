package backlog

import (
	"math/bits"
	"slices"
	"sort"
)

// Findable has a Backlog and finds its messages by number. They have to be pushed by ascending Seq. It costs 24 bytes per
// segment. The zero value is empty and ready to use.
type Findable struct {
	Backlog Backlog
	// places are, for each priority, the segments in queue order. Entries of released segments are outdated, which is
	// detected by their order, and are purged occasionally.
	places [][]place
}

// place is the number of a segment's first message.
type place struct {
	first, order uint64
	segment      uint32
}

// Push pushes a message: the Push of the Backlog would hide it from Find.
func (f *Findable) Push(r *Record) Handle {
	h := f.Backlog.Push(r)
	f.note(h, r.Seq)
	return h
}

// PushPaged is Push for a message that is paged out.
func (f *Findable) PushPaged(r *Record, body uint32, place uint64) Handle {
	h := f.Backlog.PushPaged(r, body, place)
	f.note(h, r.Seq)
	return h
}

func (f *Findable) note(h Handle, seq uint64) {
	if h&segmentMask != 0 {
		return
	}
	s := h >> segmentBits
	seg := &f.Backlog.table.segments[s]
	for int(seg.priority) >= len(f.places) {
		f.places = append(f.places, nil)
	}
	list := &f.places[seg.priority]
	if n := len(*list); n > 0 && (*list)[n-1].order == seg.order { // the segment was reused in place
		return
	}
	if len(*list) == cap(*list) {
		*list = slices.DeleteFunc(*list, func(p place) bool { return !f.current(p) })
		*list = slices.Grow(*list, len(*list)+1)
	}
	*list = append(*list, place{seq, seg.order, s})
}

// current reports whether p is still valid for its segment.
func (f *Findable) current(p place) bool {
	return int(p.segment) < len(f.Backlog.table.segments) && f.Backlog.table.segments[p.segment].order == p.order
}

// Find returns the message with the given Seq.
func (f *Findable) Find(seq uint64) (h Handle, ok bool) {
	for _, list := range f.places {
		i := sort.Search(len(list), func(i int) bool { return list[i].first > seq })
		if i == 0 || !f.current(list[i-1]) {
			continue
		}
		s := list[i-1].segment
		for used := f.Backlog.table.segments[s].used; used != 0; used &= used - 1 {
			if k := bits.TrailingZeros64(used); f.Backlog.table.segments[s].entries[k].Seq == seq {
				return s<<segmentBits | uint32(k), true
			}
		}
	}
	return 0, false
}
