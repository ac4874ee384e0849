package wheel

import (
	"math"
	"math/bits"
)

// Never is the deadline of an entry that does not expire: Add and Remove ignore it.
const Never = math.MaxInt64

const (
	groupBits = 6
	slots     = 1 << groupBits
	slotMask  = slots - 1
	// levels times groupBits covers the 63 bits of a positive deadline.
	levels = 11
	// maxList is the maximum length of a list that is wider than a millisecond; longer ones are split. It bounds the
	// work of a query. A lower limit means more lists to which unordered entries are added, so that fewer are in the
	// processor's cache.
	maxList = 4096
)

// Links chains an entry into a circular list of the wheel. The zero value is an entry off the wheel. Only the wheel
// changes it. Prev of a list's first entry has no meaning, so that adding an entry does not touch the first one, which
// is rarely in the processor's cache.
type Links struct{ Prev, Next uint32 }

// Store holds the caller's entries. A handle is at least 1.
type Store interface {
	// Links returns the links of entry h. The pointer is not used after the call into the wheel, nor across calls of
	// fire.
	Links(h uint32) *Links
	// Deadline returns when h is due, in wall ms. It must not change while h is on the wheel.
	Deadline(h uint32) int64
}

// level is 64 slots. A slot is empty, a list, or split into a level of its own.
type level struct {
	// tails are the tails of circular lists, which make both ends accessible.
	tails [slots]uint32
	sizes [slots]uint32 // lengths of the lists
	// below are the levels of split slots; nil before the first.
	below    *[slots]*level
	occupied uint64
	count    uint32 // of all entries
}

// Wheel holds entries until their deadline (TTL-30, TTL-34). It belongs to one goroutine. Create it with New.
type Wheel[S Store] struct {
	store S
	// base is the wall ms up to which everything has been handled; it never decreases.
	base int64
	// level[i] is nil until an entry needs it.
	level *[levels]*level
	spare *level // an empty level for reuse
	count uint32
	// opened is the tail of the list that is being emptied, 0 if none, left its length. Its entries are due at base.
	opened, left uint32
	maxList      uint32 // tests set lower values
	// busy has a bit for each level with entries.
	busy uint16
}

// New returns an empty wheel of entries in store. It allocates nothing.
func New[S Store](store S) Wheel[S] {
	return Wheel[S]{store: store, maxList: maxList}
}

// Len returns the number of entries on the wheel.
func (w *Wheel[S]) Len() int { return int(w.count) }

// Add adds h after the entries with the same deadline (TTL-31). A deadline in the past is due at the next Advance. An
// entry that never expires, or is on the wheel already, is ignored. Owners call Advance first, so that the base is
// current: with an old base, entries start on a needlessly high level.
func (w *Wheel[S]) Add(h uint32) {
	deadline := w.store.Deadline(h)
	links := w.store.Links(h)
	if deadline == Never || links.Next != 0 {
		return
	}
	w.count++
	at := max(deadline, w.base)
	if w.opened != 0 && at == w.base {
		w.link(h, links, w.opened)
		w.opened = h
		w.left++
		return
	}
	w.place(h, links, at)
}

// Remove removes h; an entry that is not on the wheel is ignored.
func (w *Wheel[S]) Remove(h uint32) {
	links := w.store.Links(h)
	if links.Next == 0 {
		return
	}
	w.count--
	at := max(w.store.Deadline(h), w.base)
	if w.opened != 0 && at == w.base {
		w.left--
		w.opened = w.unlink(h, links, w.opened)
		return
	}
	i := w.levelOf(at)
	if w.removeFrom(w.level[i], i, h, links, at); w.level[i].count == 0 {
		w.busy &^= 1 << i
	}
}

// removeFrom removes h from its list on level i, or on one below.
func (w *Wheel[S]) removeFrom(l *level, i int, h uint32, links *Links, at int64) {
	slot := slotOf(at, i)
	l.count--
	if inside := l.inside(slot); inside != nil {
		if w.removeFrom(inside, i-1, h, links, at); inside.count == 0 {
			l.empty(slot)
			w.spare = inside
		}
		return
	}
	l.sizes[slot]--
	if l.tails[slot] = w.unlink(h, links, l.tails[slot]); l.tails[slot] == 0 {
		l.empty(slot)
	}
}

// Next returns the time, in wall ms, at which to call Advance. It is never later than the earliest deadline, unless
// that has passed already. It may be earlier, the start of a wide slot: Advance then fires nothing, and Next increases.
func (w *Wheel[S]) Next() (deadline int64, ok bool) {
	if w.count == 0 {
		return 0, false
	}
	if w.opened != 0 {
		return w.base, true
	}
	i, slot, start := w.first()
	if tail := w.level[i].tails[slot]; i > 0 && tail != 0 && w.store.Links(tail).Next == tail {
		return w.store.Deadline(tail), true
	}
	return start, true
}

// Advance calls fire for the entries whose deadline is at or before now (wall ms, rounded down: TTL-14), by deadline
// and then in the order of Add. A fired entry is off the wheel; fire may Add and Remove. At most limit entries are
// fired, and about as many moved to a lower level; more reports whether work is left (TTL-33). A call with an earlier
// now than a previous call fires nothing.
func (w *Wheel[S]) Advance(now int64, limit int, fire func(h uint32)) (more bool) {
	for w.count > 0 {
		if w.opened == 0 {
			if _, _, start := w.first(); start > now {
				break
			}
			if limit <= 0 {
				return true
			}
			limit -= w.open()
		}
		for w.opened != 0 {
			if limit <= 0 {
				return true
			}
			limit--
			w.fireFirst(fire)
		}
	}
	w.base = max(w.base, now)
	return false
}

// fireFirst fires the first entry of the opened list.
func (w *Wheel[S]) fireFirst(fire func(h uint32)) {
	h := w.store.Links(w.opened).Next
	w.opened = w.unlink(h, w.store.Links(h), w.opened)
	w.left--
	w.count--
	fire(h)
}

// open makes the start of the first slot the base, moves its entries to their new lists, and opens the list that is
// due. It returns the number of entries moved.
func (w *Wheel[S]) open() (moved int) {
	i, slot, start := w.first()
	for w.base = start; ; i, slot = i-1, 0 {
		l := w.level[i]
		tail, size, inside := l.tails[slot], l.sizes[slot], l.inside(slot)
		l.empty(slot)
		switch {
		case i == 0:
			w.opened, w.left = tail, size
			w.drop(0, size)
			return 0
		case inside == nil:
			w.drop(i, size)
			w.moveDown(tail)
			return int(size)
		}
		w.drop(i, inside.count)
		if under := w.level[i-1]; under != nil { // it is empty, as this was the first slot
			w.spare = under
		}
		w.level[i-1] = inside
		w.busy |= 1 << (i - 1)
		if inside.occupied&1 == 0 {
			return 0
		}
	}
}

// drop subtracts n entries that have left level i from its count.
func (w *Wheel[S]) drop(i int, n uint32) {
	if w.level[i].count -= n; w.level[i].count == 0 {
		w.busy &^= 1 << i
	}
}

// moveDown adds the entries of a list again, at lower levels.
func (w *Wheel[S]) moveDown(tail uint32) {
	for h, last := w.store.Links(tail).Next, false; !last; {
		links := w.store.Links(h)
		next := links.Next
		last = h == tail
		w.place(h, links, max(w.store.Deadline(h), w.base))
		h = next
	}
}

// first returns the earliest occupied slot and its start in wall ms. The wheel must have entries, all of them on
// levels.
func (w *Wheel[S]) first() (i, slot int, start int64) {
	i = bits.TrailingZeros16(w.busy)
	slot = bits.TrailingZeros64(w.level[i].occupied)
	return i, slot, startOf(w.base, i, slot)
}

// levelOf returns the level of an entry with deadline at, which must not be before base.
func (w *Wheel[S]) levelOf(at int64) int {
	return (bits.Len64(uint64(at^w.base)|1) - 1) / groupBits
}

// slotOf returns the slot of at on a level.
func slotOf(at int64, i int) int { return int(at>>(i*groupBits)) & slotMask }

// startOf returns the ms at which a slot of that level begins, where at is a time within the level.
func startOf(at int64, i, slot int) int64 {
	width := i * groupBits
	return at>>(width+groupBits)<<(width+groupBits) | int64(slot)<<width
}

// place appends h to the list for deadline at, which must not be before base.
func (w *Wheel[S]) place(h uint32, links *Links, at int64) {
	i := w.levelOf(at)
	if w.level == nil {
		w.level = new([levels]*level)
	}
	if w.level[i] == nil {
		w.level[i] = w.newLevel()
	}
	w.busy |= 1 << i
	w.put(w.level[i], i, h, links, at)
}

// put appends h to its list on level i, or on one below.
func (w *Wheel[S]) put(l *level, i int, h uint32, links *Links, at int64) {
	for ; ; i-- {
		slot := slotOf(at, i)
		l.count++
		if inside := l.inside(slot); inside != nil {
			l = inside
			continue
		}
		w.link(h, links, l.tails[slot])
		l.tails[slot] = h
		l.occupied |= 1 << slot
		if l.sizes[slot]++; l.sizes[slot] > w.maxList && i > 0 {
			w.split(l, i, slot)
		}
		return
	}
}

// split converts a list that has grown too long to a level.
func (w *Wheel[S]) split(l *level, i, slot int) {
	tail := l.tails[slot]
	l.empty(slot)
	if l.below == nil {
		l.below = new([slots]*level)
	}
	inside := w.newLevel()
	l.below[slot], l.occupied = inside, l.occupied|1<<slot
	for h, last := w.store.Links(tail).Next, false; !last; {
		links := w.store.Links(h)
		next := links.Next
		last = h == tail
		w.put(inside, i-1, h, links, w.store.Deadline(h))
		h = next
	}
}

// newLevel returns an empty level.
func (w *Wheel[S]) newLevel() *level {
	l := w.spare
	if w.spare = nil; l == nil {
		l = new(level)
	}
	return l
}

// inside returns the level of a slot that is split, else nil.
func (l *level) inside(slot int) *level {
	if l.below == nil {
		return nil
	}
	return l.below[slot]
}

// size returns the number of entries of a slot.
func (l *level) size(slot int) int {
	if inside := l.inside(slot); inside != nil {
		return int(inside.count)
	}
	return int(l.sizes[slot])
}

// empty empties a slot.
func (l *level) empty(slot int) {
	l.tails[slot], l.sizes[slot] = 0, 0
	l.occupied &^= 1 << slot
	if l.below != nil {
		l.below[slot] = nil
	}
}

// link appends h to the list that ends with tail (0: an empty list).
func (w *Wheel[S]) link(h uint32, links *Links, tail uint32) {
	if tail == 0 {
		*links = Links{Next: h}
		return
	}
	last := w.store.Links(tail)
	*links = Links{Prev: tail, Next: last.Next}
	last.Next = h
}

// unlink removes h from the list that ends with tail and returns the list's tail then (0: it is empty).
func (w *Wheel[S]) unlink(h uint32, links *Links, tail uint32) uint32 {
	prev, next := links.Prev, links.Next
	*links = Links{}
	if next == h {
		return 0
	}
	last := w.store.Links(tail)
	switch {
	case last.Next == h: // the first entry
		last.Next = next
	case tail == h:
		w.store.Links(prev).Next = next
		return prev
	default:
		w.store.Links(prev).Next = next
		w.store.Links(next).Prev = prev
	}
	return tail
}
