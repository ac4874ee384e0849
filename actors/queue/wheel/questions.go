package wheel

import "math/bits"

// Until returns the number of entries due at or before ms (wall ms), which is not before the last Advance. It examines
// some hundred slots and at most maxList entries of one list.
func (w *Wheel[S]) Until(ms int64) int {
	if w.count == 0 || ms < w.base {
		return 0
	}
	n := int(w.left)
	i := w.levelOf(ms)
	for below := w.busy & (1<<i - 1); below != 0; below &= below - 1 {
		n += int(w.level[bits.TrailingZeros16(below)].count)
	}
	if w.busy&(1<<i) == 0 {
		return n
	}
	for l := w.level[i]; ; i-- {
		slot := slotOf(ms, i)
		for before := l.occupied & (1<<slot - 1); before != 0; before &= before - 1 {
			n += l.size(bits.TrailingZeros64(before))
		}
		inside := l.inside(slot)
		switch {
		case l.occupied&(1<<slot) == 0:
			return n
		case i == 0:
			return n + int(l.sizes[slot])
		case inside == nil:
			return n + w.until(l.tails[slot], ms)
		}
		l = inside
	}
}

// until counts the entries of a list due at ms or before.
func (w *Wheel[S]) until(tail uint32, ms int64) (n int) {
	for h := w.store.Links(tail).Next; ; h = w.store.Links(h).Next {
		if w.store.Deadline(h) <= ms {
			n++
		}
		if h == tail {
			return n
		}
	}
}

// Earliest returns the exact earliest deadline. If several have passed, it may be any of them.
func (w *Wheel[S]) Earliest() (deadline int64, ok bool) {
	list, ok := w.From(0)
	if !ok {
		return 0, false
	}
	deadline = w.store.Deadline(list.Tail)
	if list.First == list.Last {
		return deadline, true
	}
	for h := w.store.Links(list.Tail).Next; h != list.Tail; h = w.store.Links(h).Next {
		deadline = min(deadline, w.store.Deadline(h))
	}
	return deadline, true
}

// List is a list of entries due between two wall ms, in the order of Add. It is circular: the head follows the tail in
// Links. It has at most maxList entries unless First equals Last.
type List struct {
	Tail        uint32
	First, Last int64
}

// From returns the first list that may have an entry due at ms (wall ms) or later. The next list is From(Last+1).
// Overdue entries are in the first.
func (w *Wheel[S]) From(ms int64) (list List, ok bool) {
	if ms < 0 { // after the last possible list
		return List{}, false
	}
	if w.opened != 0 && ms <= w.base {
		return List{w.opened, w.base, w.base}, true
	}
	ms = max(ms, w.base)
	i := w.levelOf(ms)
	for rest := w.busy >> i << i; rest != 0; rest &= rest - 1 {
		i = bits.TrailingZeros16(rest)
		if list, ok = w.level[i].from(i, ms); ok {
			return list, true
		}
	}
	return List{}, false
}

// from is From within level i.
func (l *level) from(i int, ms int64) (list List, ok bool) {
	slot := slotOf(ms, i)
	for rest := l.occupied >> slot << slot; rest != 0; rest &= rest - 1 {
		if next := bits.TrailingZeros64(rest); next != slot {
			slot, ms = next, startOf(ms, i, next)
		}
		inside := l.inside(slot)
		if inside == nil {
			first := startOf(ms, i, slot)
			return List{l.tails[slot], first, first | (1<<(i*groupBits) - 1)}, true
		}
		if list, ok = inside.from(i-1, ms); ok {
			return list, true
		}
	}
	return List{}, false
}
