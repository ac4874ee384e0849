package backlog

import "math/bits"

// Spot is the position of a present or former message: First returns messages in the order of their spots. 0 precedes
// all. A spot is never reused, so a client that reads a queue page by page can continue after it.
//
//	255-priority, 8 bits | order of its segment, 50 bits | index in the segment, 6 bits
type Spot uint64

const spotOrderBits = 50

// Places returns the number of segments so far, for SkipPlaces.
func Places(b *Backlog) uint64 { return b.table.order }

// SkipPlaces continues the numbering of segments after the first places ones; b must be empty.
func SkipPlaces(b *Backlog, places uint64) { b.table.order = places }

// Spot returns the spot of h, which must be in use.
func (b *Backlog) Spot(h Handle) Spot {
	return b.table.segments[h>>segmentBits].spot() | Spot(h&segmentMask)
}

// spot returns the spot of the segment's first place.
func (seg *segment) spot() Spot {
	return Spot(255-seg.priority)<<(spotOrderBits+segmentBits) | Spot(seg.order)<<segmentBits
}

// Behind yields the ready messages after a spot in the order of First, until yield returns false. Nothing may change
// during the walk.
func (b *Backlog) Behind(spot Spot, yield func(h Handle) bool) {
	for priority := len(b.table.lists) - 1; priority >= 0; priority-- {
		for s := b.table.lists[priority].head; s != 0; s = b.table.segments[s].next {
			seg := &b.table.segments[s]
			first, ready := seg.spot(), seg.ready
			switch {
			case first+segmentMask <= spot:
				continue
			case first <= spot:
				ready &^= 1<<(spot-first+1) - 1
			}
			for ; ready != 0; ready &= ready - 1 {
				if !yield(s<<segmentBits | uint32(bits.TrailingZeros64(ready))) {
					return
				}
			}
		}
	}
}
