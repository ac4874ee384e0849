package format

import (
	"hash/crc32"
	"sync"
)

// sums gives the checksum of any part of a byte slice without reading all of that part: it keeps the sums of prefixes,
// and the sums of two prefixes give the sum of the part between them. So the search for records in damaged bytes is
// linear, for any lengths that these bytes claim.
type sums struct {
	b       []byte
	every   []uint32 // of the first 0, step, 2 step, … bytes
	checked *int64   // counts bytes that were read
}

const sumStep = 64 // bytes

func newSums(b []byte, checked *int64) *sums {
	s := &sums{b: b, every: make([]uint32, 1, len(b)/sumStep+1), checked: checked}
	for at := sumStep; at <= len(b); at += sumStep {
		s.every = append(s.every, crc32.Update(s.every[len(s.every)-1], Castagnoli, b[at-sumStep:at]))
	}
	*checked += int64(len(b))
	return s
}

// upTo returns the sum of the first n bytes.
func (s *sums) upTo(n int) uint32 {
	at := n / sumStep * sumStep
	*s.checked += int64(n - at)
	return crc32.Update(s.every[n/sumStep], Castagnoli, s.b[at:n])
}

// part is crc32.Update(seed, castagnoli, b[from:to]).
func (s *sums) part(seed uint32, from, to int) uint32 {
	return shifted(seed^s.upTo(from), to-from) ^ s.upTo(to)
}

// Sums are polynomials over GF(2) modulo the Castagnoli polynomial, with the highest bit for x^0. Another n bytes
// multiply a sum by x^8n.

// times multiplies two such polynomials.
func times(a, b uint32) (product uint32) {
	for bit := uint32(1) << 31; a != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
			a ^= bit
		}
		b = b>>1 ^ -(b&1)&crc32.Castagnoli
	}
	return product
}

// powers has x^(8·v·256^k) for every value v of byte k of a length.
var powers = sync.OnceValue(func() *[4][256]uint32 {
	table := new([4][256]uint32)
	base := uint32(1) << (31 - 8) // x^8
	for k := range table {
		table[k][0] = 1 << 31
		for v := 1; v < 256; v++ {
			table[k][v] = times(table[k][v-1], base)
		}
		base = times(table[k][255], base)
	}
	return table
})

// shifted returns a sum multiplied by x^8n: its part of the sum when n more bytes follow.
func shifted(sum uint32, n int) uint32 {
	table := powers()
	for k := 0; n > 0; k, n = k+1, n>>8 {
		if v := n & 0xFF; v > 0 {
			sum = times(sum, table[k][v])
		}
	}
	return sum
}
