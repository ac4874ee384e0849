package seqmap

import "testing"

// TestSome: iterating in parts visits each value once, in order, and the last part returns 0; so does taking in parts.
func TestSome(t *testing.T) {
	var l Map[uint64]
	for n := range uint64(1000) {
		l.Append(n + 1)
	}
	l.TakeRange(130, 700, func(uint64, uint64) {})
	walk := func(step func(next uint64, f func(n, v uint64)) uint64) (count, parts int) {
		last := uint64(0)
		for next := uint64(1); ; {
			before := count
			next = step(next, func(n, v uint64) {
				if n != v || n <= last {
					t.Errorf("%d behind %d, with %d", n, last, v)
				}
				last = n
				count++
			})
			parts++
			if count-before > 128 {
				t.Errorf("%d in one part", count-before)
			}
			if next == 0 {
				return count, parts
			}
		}
	}
	if n, parts := walk(func(next uint64, f func(n, v uint64)) uint64 { return l.Some(next, 100, f) }); n != 429 || parts < 4 {
		t.Errorf("%d values in %d parts", n, parts)
	}
	if n, parts := walk(func(next uint64, f func(n, v uint64)) uint64 { return l.TakeSome(next, 1<<63, 100, f) }); n != 429 || parts < 4 || l.Len() != 0 {
		t.Errorf("%d values in %d parts, %d left", n, parts, l.Len())
	}
	l.Append(1)
	if next := l.TakeSome(1, 900, 1, func(uint64, uint64) { t.Error("taken") }); next != 0 {
		t.Errorf("goes on at %d", next)
	}
}
