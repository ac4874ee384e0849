package backlog

import "math/bits"

// Sweep calls f for messages, ready or taken, in no particular order, starting at place from (1 is the first), and
// returns the place at which to continue, 0 at the end. It examines about limit places. f may change a message, but not
// push or remove any. Messages that exist from the first call to the last are visited, possibly twice; others may or
// may not be.
func (b *Backlog) Sweep(from Handle, limit int, f func(h Handle)) (next Handle) {
	s := from >> segmentBits
	for ; int(s) < len(b.table.segments); s++ {
		if limit <= 0 {
			return max(s<<segmentBits, 1)
		}
		limit -= segmentSize
		for used := b.table.segments[s].used; used != 0; used &= used - 1 {
			f(s<<segmentBits | uint32(bits.TrailingZeros64(used)))
		}
	}
	return 0
}
