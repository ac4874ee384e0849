package backlog

import "math/bits"

// Sweep calls f for messages, ready or taken, in no particular order, from the place named from on, and returns the place
// where to go on, 0 when it is through; 1 names the first place. It looks at about limit places. f may change a message, but
// not push or remove any. A message that is there from the first call to the last is seen, others perhaps, some twice.
func (b *Backlog) Sweep(from Handle, limit int, f func(h Handle)) (next Handle) {
	s := from >> segmentBits
	for ; int(s) < len(b.segments); s++ {
		if limit <= 0 {
			return max(s<<segmentBits, 1)
		}
		limit -= segmentSize
		for used := b.segments[s].used; used != 0; used &= used - 1 {
			f(s<<segmentBits | uint32(bits.TrailingZeros64(used)))
		}
	}
	return 0
}
