package wheel

import (
	"math"
	"math/bits"
)

// Never is the deadline of an entry that does not expire: Add and Remove leave it alone.
const Never = math.MaxInt64

const (
	groupBits = 6
	slots     = 1 << groupBits
	slotMask  = slots - 1
	// levels times groupBits covers the 63 bits of a positive deadline.
	levels = 11
	// directLevel is the lowest level whose slots, when all of their time has passed, fire without a detour through the
	// levels below. Those detours sort: up to here (4 s) a late Advance still fires in the order of deadlines.
	directLevel = 2
)

// Links chains an entry into a list of the wheel. The zero value is an entry off the wheel. Only the wheel changes it.
type Links struct{ Prev, Next uint32 }

// Store is where the caller keeps its entries. A handle is at least 1.
type Store interface {
	// Links returns the links of entry h. The pointer is not used after the call into the wheel, nor across fire.
	Links(h uint32) *Links
	// Deadline returns the wall milliseconds at which h is due. It must not change while h is on the wheel.
	Deadline(h uint32) int64
}

// level is 64 lists; a slot holds the tail of a circular list, so that both ends are at hand.
type level struct {
	tails    [slots]uint32
	occupied uint64
}

// Wheel holds entries until their deadline (TTL-30, TTL-34). It belongs to one goroutine. Make it with New.
type Wheel[S Store] struct {
	store S
	// base is the wall ms up to which everything has been handled; it never goes back.
	base int64
	// level[i] is nil until an entry needs it.
	level *[levels]*level
	count uint32
	// opened is the tail of the list of the slot that is being emptied, 0 if none. Its time begins at base.
	opened uint32
	// busy has a bit for each level with entries.
	busy uint16
	// shift is the width of the opened slot in bits: what equals base above it belongs to it.
	shift uint8
	// due says that all entries of the opened slot are due; otherwise they move down.
	due bool
}

// New returns an empty wheel over the entries of store. It allocates nothing.
func New[S Store](store S) Wheel[S] {
	return Wheel[S]{store: store}
}

// Len returns the number of entries on the wheel.
func (w *Wheel[S]) Len() int { return int(w.count) }

// Add puts h on the wheel, at the end of the entries with the same deadline (TTL-31). A deadline in the past is due at the
// next Advance. An entry that never expires, or is on the wheel already, is left as it is. Owners call Advance before they
// add, so that the base is fresh: with an old one entries start on a needlessly high level.
func (w *Wheel[S]) Add(h uint32) {
	deadline := w.store.Deadline(h)
	links := w.store.Links(h)
	if deadline == Never || links.Next != 0 {
		return
	}
	w.count++
	at := max(deadline, w.base)
	if w.opened != 0 && at>>w.shift == w.base>>w.shift {
		w.link(h, links, w.opened)
		w.opened = h
		return
	}
	w.place(h, links, at)
}

// Remove takes h off the wheel; an entry that is not on it is left as it is.
func (w *Wheel[S]) Remove(h uint32) {
	links := w.store.Links(h)
	if links.Next == 0 {
		return
	}
	w.count--
	tail := w.unlink(h, links)
	if w.opened == h {
		w.opened = tail
		return
	}
	i, slot := w.position(max(w.store.Deadline(h), w.base))
	if l := w.level[i]; l != nil && l.tails[slot] == h {
		w.setTail(i, slot, tail)
	}
}

// Next returns the wall ms at which to call Advance. It is never later than the earliest deadline, unless that has passed
// already. It may be earlier, the beginning of a wide slot: Advance then fires nothing, and Next grows.
func (w *Wheel[S]) Next() (deadline int64, ok bool) {
	if w.count == 0 {
		return 0, false
	}
	if w.opened != 0 {
		return w.base, true
	}
	i, slot, start := w.first()
	if i > 0 {
		tail := w.level[i].tails[slot]
		if w.store.Links(tail).Next == tail {
			return w.store.Deadline(tail), true
		}
	}
	return start, true
}

// Advance calls fire for the entries whose deadline is at or before now (wall ms, rounded down: TTL-14), equal deadlines in
// the order of Add, different ones in theirs unless the call is more than 4 s late. A fired entry is off the wheel; fire may
// Add and Remove. At most limit entries are handled, that is fired or moved to a lower level; more tells that work is left
// (TTL-33). A now before that of an earlier call fires nothing.
func (w *Wheel[S]) Advance(now int64, limit int, fire func(h uint32)) (more bool) {
	for w.count > 0 {
		if w.opened == 0 && !w.open(now) {
			break
		}
		for w.opened != 0 {
			if limit <= 0 {
				return true
			}
			limit--
			w.handleFirst(fire)
		}
	}
	w.base = max(w.base, now)
	return false
}

// handleFirst takes the first entry of the opened slot and fires it or moves it down.
func (w *Wheel[S]) handleFirst(fire func(h uint32)) {
	h := w.store.Links(w.opened).Next
	links := w.store.Links(h)
	tail := w.unlink(h, links)
	if w.opened == h {
		w.opened = tail
	}
	if !w.due {
		w.place(h, links, max(w.store.Deadline(h), w.base))
		return
	}
	w.count--
	fire(h)
}

// open takes the first slot off its level, if its time has come, and makes its start the base.
func (w *Wheel[S]) open(now int64) bool {
	i, slot, start := w.first()
	if start > now {
		return false
	}
	w.opened = w.level[i].tails[slot]
	w.setTail(i, slot, 0)
	w.base = start
	w.shift = uint8(i * groupBits)
	last := start | (1<<w.shift - 1)
	w.due = i == 0 || i >= directLevel && last <= now
	return true
}

// first returns the earliest occupied slot and the wall ms at which it begins. The wheel has entries, all of them on levels.
func (w *Wheel[S]) first() (i, slot int, start int64) {
	i = bits.TrailingZeros16(w.busy)
	slot = bits.TrailingZeros64(w.level[i].occupied)
	width := i * groupBits
	return i, slot, w.base>>(width+groupBits)<<(width+groupBits) | int64(slot)<<width
}

// position returns where an entry with deadline at belongs; at is not before base.
func (w *Wheel[S]) position(at int64) (i, slot int) {
	i = (bits.Len64(uint64(at^w.base)|1) - 1) / groupBits
	return i, int(at>>(i*groupBits)) & slotMask
}

// place puts h at the end of the list for deadline at, which is not before base.
func (w *Wheel[S]) place(h uint32, links *Links, at int64) {
	i, slot := w.position(at)
	if w.level == nil {
		w.level = new([levels]*level)
	}
	if w.level[i] == nil {
		w.level[i] = new(level)
	}
	w.link(h, links, w.level[i].tails[slot])
	w.setTail(i, slot, h)
}

// link appends h to the circular list that ends with tail (0: an empty list).
func (w *Wheel[S]) link(h uint32, links *Links, tail uint32) {
	if tail == 0 {
		*links = Links{Prev: h, Next: h}
		return
	}
	last := w.store.Links(tail)
	head := last.Next
	*links = Links{Prev: tail, Next: head}
	last.Next = h
	w.store.Links(head).Prev = h
}

// unlink takes h out of its list and returns the tail that the list has if h was its tail (0: it is empty now).
func (w *Wheel[S]) unlink(h uint32, links *Links) (tail uint32) {
	prev, next := links.Prev, links.Next
	*links = Links{}
	if next == h {
		return 0
	}
	w.store.Links(prev).Next = next
	w.store.Links(next).Prev = prev
	return prev
}

// setTail changes the list of a slot and keeps the bitmaps true.
func (w *Wheel[S]) setTail(i, slot int, tail uint32) {
	l := w.level[i]
	l.tails[slot] = tail
	if tail != 0 {
		l.occupied |= 1 << slot
		w.busy |= 1 << i
		return
	}
	l.occupied &^= 1 << slot
	if l.occupied == 0 {
		w.busy &^= 1 << i
	}
}
