package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// numbers holds a number for each message of a set, as bit planes: plane k holds, for each word of the set, which of
// its 64 messages have bit k set in their number. So a number costs as many bits as the longest number of the set, and
// the numbers of 64 messages are summed or increased at once. Bits beyond the end of a plane are zero.
type numbers struct{ planes [][]uint64 }

func (n *numbers) plane(k, i int) uint64 {
	if k >= len(n.planes) || i >= len(n.planes[k]) {
		return 0
	}
	return n.planes[k][i]
}

func (n *numbers) put(k, i int, bits uint64) {
	if bits == n.plane(k, i) {
		return
	}
	for k >= len(n.planes) {
		n.planes = append(n.planes, nil)
	}
	if p := n.planes[k]; i >= len(p) {
		n.planes[k] = append(p, make([]uint64, i+1-len(p))...)
	}
	n.planes[k][i] = bits
}

// add adds to the numbers of some messages of a word.
func (n *numbers) add(i int, mask, number uint64) {
	for k, carry := 0, uint64(0); number>>k != 0 || carry != 0; k++ {
		is, more := n.plane(k, i), -(number>>k&1)&mask
		n.put(k, i, is^more^carry)
		carry = is&more | is&carry | more&carry
	}
}

// clear makes the numbers of some messages of a word zero.
func (n *numbers) clear(i int, mask uint64) {
	for k := range n.planes {
		n.put(k, i, n.plane(k, i)&^mask)
	}
}

// sum adds up the numbers of some messages of a word.
func (n *numbers) sum(i int, mask uint64) (total uint64) {
	for k := range n.planes {
		total += uint64(bits.OnesCount64(n.plane(k, i)&mask)) << k
	}
	return total
}

// insert makes room for a word.
func (n *numbers) insert(i int) {
	for k, p := range n.planes {
		if i < len(p) {
			n.planes[k] = slices.Insert(p, i, 0)
		}
	}
}

func (n *numbers) clone() numbers {
	c := numbers{planes: slices.Clone(n.planes)}
	for k := range c.planes {
		c.planes[k] = slices.Clone(c.planes[k])
	}
	return c
}

// append encodes the numbers of the live messages of a word: the number that all share, or the count of planes and the
// planes.
func (n *numbers) append(b []byte, i int, live uint64) []byte {
	number, same, high := uint64(0), true, 0
	for k := range n.planes {
		switch n.plane(k, i) & live {
		case 0:
		case live:
			number |= 1 << k
			high = k + 1
		default:
			same = false
			high = k + 1
		}
	}
	if same {
		return binary.AppendUvarint(b, number<<1|1)
	}
	b = binary.AppendUvarint(b, uint64(high)<<1)
	for k := range high {
		b = binary.LittleEndian.AppendUint64(b, n.plane(k, i)&live)
	}
	return b
}

// read decodes what append encoded.
func (n *numbers) read(s *scanner, i int, live uint64) {
	how := s.number()
	if how&1 != 0 {
		n.add(i, live, how>>1)
		return
	}
	if how>>1 > 64 {
		s.bad = true
		return
	}
	for k := range int(how >> 1) {
		n.put(k, i, binary.LittleEndian.Uint64(s.take(8))&live)
	}
}
