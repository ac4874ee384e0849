package message

import "math/bits"

// The bounds of the copies that descend from one publish (DL-32): of all queues together, and the least that each
// message of a publish to many queues may have.
const (
	CopyLimit  = 1 << 18
	leastShare = 16
)

// FreeSpread is the spread up to which each message has the same number of further copies.
const FreeSpread = 4

// SpreadOf returns the binary logarithm, rounded up, of the number of queues that a publish goes to, which is at least
// 1.
func SpreadOf(queues int) uint8 { return uint8(bits.Len(uint(queues - 1))) }

// AddSpread adds the number of queues to the message's Spread.
func (m *Message) AddSpread(queues int) { m.Spread = min(m.Spread+SpreadOf(queues), bits.UintSize-1) }

// CopiesOf returns how many further copies each message of a publish with this spread may have.
func CopiesOf(spread uint8) uint32 {
	return max(uint32(CopyLimit)>>max(spread, FreeSpread), leastShare)
}

// Copies returns how many further copies the broker may make of the message and of all messages that descend from it.
func (m *Message) Copies() uint32 {
	if o := m.Overlay; o != nil && o.Copied {
		return o.Copies
	}
	return CopiesOf(m.Spread)
}

// ShareOf returns how many further copies each of n messages may have when one that may have the given number is
// copied to n queues; ok is false if that is too many.
func ShareOf(copies uint32, n int) (each uint32, ok bool) {
	made := uint64(n - 1)
	if made > uint64(copies) {
		return 0, false
	}
	return uint32((uint64(copies) - made) / uint64(n)), true
}

// WithCopies returns the overlay of a message that the broker has copied: it may have that many further copies. o may
// be nil.
func (o *Overlay) WithCopies(further uint32) *Overlay {
	var next Overlay
	if o != nil {
		next = *o
	}
	next.Copied, next.Copies = true, further
	return &next
}
