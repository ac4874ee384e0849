package schedule

import (
	"cmp"
	"slices"
	"sort"
)

// This part keeps entries in the order of their due times, so that they can be listed, counted and changed.
//
// Owns: a sorted list of due times, in leaves of up to 512, and three short arrays: the leaves, the first due time of
// each, and its length. The entries belong to the caller (Store); the index refers to them by uint32 handles and
// takes 12 bytes for each, without pointers.
//
// States: an entry is in the index or not. Entries with the same due time are ordered by number.
//
// The first entry is found at once; a lookup takes two binary searches; a count adds up the lengths: 10,000 numbers for
// five million entries. A wheel (package wheel) adds and removes faster, but has no order until an entry is nearly due:
// to list a page, all entries due in the same hours would have to be examined.
//
// Deadlines: wall milliseconds; the index has no clock and fires nothing: its owner queries the first entry.
//
// A restart loses everything; the owner adds its entries again.

const (
	// leafSize is the maximum length of a leaf.
	leafSize = 512
	// mergeSize is the length below which two neighbours are merged.
	mergeSize = leafSize / 4
)

// dueStore holds the caller's entries.
type dueStore interface {
	// Deadline returns when h is due, in wall ms. It must not change while h is in the index.
	Deadline(h uint32) int64
	// Seq returns the number of h, which is unique.
	Seq(h uint32) uint64
}

// dueIndex holds entries ordered by due time and then number. It belongs to one goroutine. Create it with newDueIndex.
type dueIndex[S dueStore] struct {
	store S
	// leaves are never empty; firsts and sizes are the first due time and the length of each.
	leaves []*dueLeaf
	firsts []int64
	sizes  []uint16
	count  int
}

// dueLeaf is a run of entries.
type dueLeaf struct {
	dues    []int64
	handles []uint32
}

// newDueIndex returns an empty index of entries in store. It allocates nothing.
func newDueIndex[S dueStore](store S) dueIndex[S] { return dueIndex[S]{store: store} }

// Len returns the number of entries.
func (a *dueIndex[S]) Len() int { return a.count }

// First returns the entry that is due first.
func (a *dueIndex[S]) First() (h uint32, due int64, ok bool) {
	if a.count == 0 {
		return 0, 0, false
	}
	return a.leaves[0].handles[0], a.firsts[0], true
}

// Add adds h, which must not be in the index.
func (a *dueIndex[S]) Add(h uint32) {
	due, seq := a.store.Deadline(h), a.store.Seq(h)
	a.count++
	if len(a.leaves) == 0 {
		a.insertLeaf(0, &dueLeaf{[]int64{due}, []uint32{h}})
		return
	}
	i := a.leafOf(due, seq)
	l := a.leaves[i]
	at := a.place(l, due, seq)
	if len(l.dues) == leafSize {
		if i == len(a.leaves)-1 && at == leafSize { // entries added in order fill their leaves
			a.insertLeaf(i+1, &dueLeaf{append(make([]int64, 0, leafSize), due), append(make([]uint32, 0, leafSize), h)})
			return
		}
		a.split(i)
		if half := leafSize / 2; at > half {
			i, at = i+1, at-half
			l = a.leaves[i]
		}
	}
	l.dues, l.handles = slices.Insert(l.dues, at, due), slices.Insert(l.handles, at, h)
	a.firsts[i], a.sizes[i] = l.dues[0], uint16(len(l.dues))
}

// AddAll adds handles to an empty index, in their order. That is faster than adding them one by one.
func (a *dueIndex[S]) AddAll(handles []uint32) {
	type entry struct {
		due int64
		h   uint32
	}
	all := make([]entry, len(handles))
	for i, h := range handles {
		all[i] = entry{a.store.Deadline(h), h}
	}
	slices.SortFunc(all, func(x, y entry) int {
		if x.due != y.due {
			return cmp.Compare(x.due, y.due)
		}
		return cmp.Compare(a.store.Seq(x.h), a.store.Seq(y.h))
	})
	a.count = len(all)
	for run := range slices.Chunk(all, leafSize) {
		l := &dueLeaf{make([]int64, len(run)), make([]uint32, len(run))}
		for i, e := range run {
			l.dues[i], l.handles[i] = e.due, e.h
		}
		a.insertLeaf(len(a.leaves), l)
	}
}

// Remove removes h, which must be in the index.
func (a *dueIndex[S]) Remove(h uint32) {
	due, seq := a.store.Deadline(h), a.store.Seq(h)
	i := a.leafOf(due, seq)
	l := a.leaves[i]
	at := a.place(l, due, seq)
	if at == len(l.handles) || l.handles[at] != h {
		panic("dueindex: Remove of an entry that is not in it")
	}
	a.count--
	if at == 0 {
		l.dues, l.handles = l.dues[1:], l.handles[1:]
	} else {
		l.dues, l.handles = slices.Delete(l.dues, at, at+1), slices.Delete(l.handles, at, at+1)
	}
	if len(l.dues) == 0 {
		a.dropLeaf(i)
		return
	}
	a.firsts[i], a.sizes[i] = l.dues[0], uint16(len(l.dues))
	if i > 0 && i+1 < len(a.leaves) && len(l.dues)+int(a.sizes[i+1]) < mergeSize { // the first leaf becomes empty anyway
		next := a.leaves[i+1]
		l.dues, l.handles = append(l.dues, next.dues...), append(l.handles, next.handles...)
		a.sizes[i] = uint16(len(l.dues))
		a.dropLeaf(i + 1)
	}
}

// Until returns the number of entries due at or before ms (wall ms).
func (a *dueIndex[S]) Until(ms int64) int {
	i := sort.Search(len(a.firsts), func(i int) bool { return a.firsts[i] > ms })
	if i == 0 {
		return 0
	}
	n := 0
	for _, size := range a.sizes[:i-1] {
		n += int(size)
	}
	l := a.leaves[i-1]
	return n + sort.Search(len(l.dues), func(k int) bool { return l.dues[k] > ms })
}

// Behind yields the entries after a position, in order: entries due after due, or at due with a number above seq.
// Nothing may change during the walk.
func (a *dueIndex[S]) Behind(due int64, seq uint64, yield func(h uint32) bool) {
	if a.count == 0 {
		return
	}
	i := a.leafOf(due, seq)
	at := a.place(a.leaves[i], due, seq)
	for ; i < len(a.leaves); i, at = i+1, 0 {
		for _, h := range a.leaves[i].handles[at:] {
			if a.store.Deadline(h) == due && a.store.Seq(h) == seq {
				continue
			}
			if !yield(h) {
				return
			}
		}
	}
}

// Memory returns the bytes that the index holds.
func (a *dueIndex[S]) Memory() int64 {
	n := int64(cap(a.leaves))*8 + int64(cap(a.firsts))*8 + int64(cap(a.sizes))*2
	return n + int64(len(a.leaves))*(leafSize*12+48)
}

// leafOf returns the index of the leaf with the position of an entry.
func (a *dueIndex[S]) leafOf(due int64, seq uint64) int {
	low, high := 0, len(a.firsts)
	for low < high {
		i := int(uint(low+high) >> 1)
		if first := a.firsts[i]; first > due || first == due && a.store.Seq(a.leaves[i].handles[0]) > seq {
			high = i
		} else {
			low = i + 1
		}
	}
	return max(low-1, 0)
}

// place returns the position of an entry in its leaf.
func (a *dueIndex[S]) place(l *dueLeaf, due int64, seq uint64) int {
	if n := len(l.dues); l.dues[n-1] < due {
		return n
	}
	low, high := 0, len(l.dues)
	for low < high {
		i := int(uint(low+high) >> 1)
		if at := l.dues[i]; at > due || at == due && a.store.Seq(l.handles[i]) >= seq {
			high = i
		} else {
			low = i + 1
		}
	}
	return low
}

// split moves the second half of a full leaf to a new leaf after it.
func (a *dueIndex[S]) split(i int) {
	const half = leafSize / 2
	l := a.leaves[i]
	next := &dueLeaf{append(make([]int64, 0, leafSize), l.dues[half:]...), append(make([]uint32, 0, leafSize), l.handles[half:]...)}
	l.dues, l.handles = l.dues[:half], l.handles[:half]
	a.sizes[i] = half
	a.insertLeaf(i+1, next)
}

func (a *dueIndex[S]) insertLeaf(i int, l *dueLeaf) {
	a.leaves = slices.Insert(a.leaves, i, l)
	a.firsts = slices.Insert(a.firsts, i, l.dues[0])
	a.sizes = slices.Insert(a.sizes, i, uint16(len(l.dues)))
}

func (a *dueIndex[S]) dropLeaf(i int) {
	if i == 0 {
		a.leaves[0] = nil
		a.leaves, a.firsts, a.sizes = a.leaves[1:], a.firsts[1:], a.sizes[1:]
		return
	}
	a.leaves = slices.Delete(a.leaves, i, i+1)
	a.firsts, a.sizes = slices.Delete(a.firsts, i, i+1), slices.Delete(a.sizes, i, i+1)
}
