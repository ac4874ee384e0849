package seqmap

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

const perBlock = 64

type block[T any] struct {
	key  uint64 // number / perBlock
	live uint64 // bit i: number key*perBlock+i has a value
	vals [perBlock]T
}

// Map holds values under numbers that grow by one. The zero value is empty
// and ready.
type Map[T any] struct {
	blocks []*block[T] // by key
	spare  *block[T]   // one emptied block, for the steady state
	last   uint64
	count  int
}

// After returns an empty map that continues after the number last.
func After[T any](last uint64) Map[T] { return Map[T]{last: last} }

// Append stores v under the next number, which it returns; the first is 1.
func (l *Map[T]) Append(v T) uint64 {
	l.last++
	key, bit := l.last/perBlock, l.last%perBlock
	var b *block[T]
	if n := len(l.blocks); n > 0 && l.blocks[n-1].key == key {
		b = l.blocks[n-1]
	} else {
		if b = l.spare; b == nil {
			b = new(block[T])
		}
		l.spare = nil
		b.key = key
		l.blocks = append(l.blocks, b)
	}
	b.vals[bit] = v
	b.live |= 1 << bit
	l.count++
	return l.last
}

// Skip gives out the next number without a value.
func (l *Map[T]) Skip() uint64 {
	l.last++
	return l.last
}

// Restore puts a value back under a number that it was taken from.
func (l *Map[T]) Restore(n uint64, v T) {
	key, bit := n/perBlock, n%perBlock
	i := l.find(key)
	if i == len(l.blocks) || l.blocks[i].key != key {
		b := l.spare
		if b == nil {
			b = new(block[T])
		}
		l.spare = nil
		b.key = key
		l.blocks = slices.Insert(l.blocks, i, b)
	}
	b := l.blocks[i]
	if n == 0 || n > l.last || b.live&(1<<bit) != 0 {
		panic("seqmap: restored a number that was not taken")
	}
	b.vals[bit] = v
	b.live |= 1 << bit
	l.count++
}

// Last returns the newest number given out, 0 before the first.
func (l *Map[T]) Last() uint64 { return l.last }

// Len returns how many values are held.
func (l *Map[T]) Len() int { return l.count }

// Get returns the value under n.
func (l *Map[T]) Get(n uint64) (T, bool) {
	if i := l.find(n / perBlock); i < len(l.blocks) {
		b := l.blocks[i]
		if bit := n % perBlock; b.key == n/perBlock && b.live&(1<<bit) != 0 {
			return b.vals[bit], true
		}
	}
	var none T
	return none, false
}

// Take removes the value under n and returns it.
func (l *Map[T]) Take(n uint64) (T, bool) {
	var v T
	found := false
	l.TakeRange(n, n, func(_ uint64, x T) { v, found = x, true })
	return v, found
}

// TakeRange removes all values with first <= number <= last, calling f for each
// in order. f must not use the map.
func (l *Map[T]) TakeRange(first, last uint64, f func(n uint64, v T)) {
	var none T
	start := l.find(first / perBlock)
	i := start
	for ; i < len(l.blocks) && l.blocks[i].key <= last/perBlock; i++ {
		b := l.blocks[i]
		for m := b.live & within(b.key*perBlock, first, last); m != 0; m &= m - 1 {
			bit := bits.TrailingZeros64(m)
			v := b.vals[bit]
			b.vals[bit] = none
			b.live &^= 1 << bit
			l.count--
			f(b.key*perBlock+uint64(bit), v)
		}
	}
	l.sweep(start, i)
}

// TakeSome is TakeRange of no more than about limit values, to whole blocks of
// numbers. It returns the number at which to continue, 0 at the end.
func (l *Map[T]) TakeSome(first, last uint64, limit int, f func(n uint64, v T)) (next uint64) {
	if i := l.find(first/perBlock) + (limit+perBlock-1)/perBlock; i < len(l.blocks) && l.blocks[i].key <= last/perBlock {
		next = l.blocks[i].key * perBlock
		last = next - 1
	}
	l.TakeRange(first, last, f)
	return next
}

// Some calls f for about limit values in order of numbers, to whole blocks of
// them, from the number first on. It returns the number at which to continue, 0 at the end. f must not change the map.
func (l *Map[T]) Some(first uint64, limit int, f func(n uint64, v T)) (next uint64) {
	i := l.find(first / perBlock)
	for ; i < len(l.blocks) && limit > 0; i++ {
		b := l.blocks[i]
		for m := b.live & within(b.key*perBlock, first, math.MaxUint64); m != 0; m &= m - 1 {
			bit := bits.TrailingZeros64(m)
			f(b.key*perBlock+uint64(bit), b.vals[bit])
		}
		limit -= perBlock
	}
	if i < len(l.blocks) {
		return l.blocks[i].key * perBlock
	}
	return 0
}

// within returns the mask of the numbers of a block beginning at base that lie in [first, last].
func within(base, first, last uint64) uint64 {
	m := ^uint64(0)
	if first > base {
		if first >= base+perBlock {
			return 0
		}
		m &= ^uint64(0) << (first - base)
	}
	if last < base+perBlock-1 {
		m &= ^uint64(0) >> (base + perBlock - 1 - last)
	}
	return m
}

// sweep drops the empty blocks among [from, to), except one that still has
// numbers to give out.
func (l *Map[T]) sweep(from, to int) {
	keep := from
	for i := from; i < to; i++ {
		b := l.blocks[i]
		if b.live != 0 || b.key == (l.last+1)/perBlock {
			l.blocks[keep] = b
			keep++
			continue
		}
		l.spare = b
	}
	if keep == to {
		return
	}
	n := copy(l.blocks[keep:], l.blocks[to:])
	clear(l.blocks[keep+n:])
	l.blocks = l.blocks[:keep+n]
}

// Each calls f for every value in order of numbers until it returns false. f
// must not change the map.
func (l *Map[T]) Each(f func(n uint64, v T) bool) {
	for _, b := range l.blocks {
		for m := b.live; m != 0; m &= m - 1 {
			bit := bits.TrailingZeros64(m)
			if !f(b.key*perBlock+uint64(bit), b.vals[bit]) {
				return
			}
		}
	}
}

// find returns the index of the first block with a key not below key.
func (l *Map[T]) find(key uint64) int {
	n := len(l.blocks)
	switch {
	case n == 0 || l.blocks[0].key >= key:
		return 0
	case l.blocks[n-1].key == key:
		return n - 1
	}
	return sort.Search(n, func(i int) bool { return l.blocks[i].key >= key })
}
