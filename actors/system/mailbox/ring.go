package mailbox

import "iter"

// turn is run by a Dispatcher: a turn of an actor, or a function.
type turn interface{ process() }

type function func()

func (f function) process() { f() }

// ring is a first-in-first-out queue of turns that grows as needed. The zero value is empty and ready to use.
type ring struct {
	slots []turn // length zero or a power of two
	head  int    // index of the oldest turn
	count int
}

func (r *ring) push(t turn) {
	if r.count == len(r.slots) {
		r.grow()
	}
	r.slots[(r.head+r.count)&(len(r.slots)-1)] = t
	r.count++
}

// pop removes and returns the oldest turn, nil if there is none.
func (r *ring) pop() turn {
	if r.count == 0 {
		return nil
	}
	t := r.slots[r.head]
	r.slots[r.head] = nil
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.count--
	return t
}

func (r *ring) grow() {
	slots := make([]turn, max(64, 2*len(r.slots)))
	n := copy(slots, r.slots[r.head:])
	copy(slots[n:], r.slots[:r.head])
	r.slots, r.head = slots, 0
}

// all yields the turns, the oldest first.
func (r *ring) all() iter.Seq[turn] {
	return func(yield func(turn) bool) {
		for i := range r.count {
			if !yield(r.slots[(r.head+i)&(len(r.slots)-1)]) {
				return
			}
		}
	}
}
