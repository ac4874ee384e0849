package backlog

import "math/bits"

// Spot is where a message stands, or stood: a message with a lower one is found by First before it. 0 is before all. It is not
// given to another message when its own is gone, so that somebody who reads a queue page by page can go on behind it.
//
//	255-priority, 8 bits | order of its segment, 50 bits | index in the segment, 6 bits
type Spot uint64

const spotOrderBits = 50

// Places counts the places that there have been, for GoOn.
func Places(b *Backlog) uint64 { return b.order }

// GoOn has the places of b, which is empty, stand behind so many others.
func GoOn(b *Backlog, places uint64) { b.order = places }

// Spot returns that of h, which is in use.
func (b *Backlog) Spot(h Handle) Spot {
	return b.segments[h>>segmentBits].spot() | Spot(h&segmentMask)
}

// spot is that of the segment's first place.
func (seg *segment) spot() Spot {
	return Spot(255-seg.priority)<<(spotOrderBits+segmentBits) | Spot(seg.order)<<segmentBits
}

// Behind yields the ready messages behind a spot in the order in which First would find them, until it is told false. Nothing
// may change meanwhile.
func (b *Backlog) Behind(spot Spot, yield func(h Handle) bool) {
	for priority := len(b.lists) - 1; priority >= 0; priority-- {
		for s := b.lists[priority].head; s != 0; s = b.segments[s].next {
			seg := &b.segments[s]
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
