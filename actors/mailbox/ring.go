package mailbox

// ring is a first-in-first-out queue of turns that grows as needed. The zero value is empty and ready to use.
type ring struct {
	slots []func() // length zero or a power of two
	head  int      // index of the oldest turn
	count int
}

func (r *ring) push(turn func()) {
	if r.count == len(r.slots) {
		r.grow()
	}
	r.slots[(r.head+r.count)&(len(r.slots)-1)] = turn
	r.count++
}

// pop removes and returns the oldest turn, nil when there is none.
func (r *ring) pop() func() {
	if r.count == 0 {
		return nil
	}
	turn := r.slots[r.head]
	r.slots[r.head] = nil
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.count--
	return turn
}

func (r *ring) grow() {
	slots := make([]func(), max(64, 2*len(r.slots)))
	n := copy(slots, r.slots[r.head:])
	copy(slots[n:], r.slots[:r.head])
	r.slots, r.head = slots, 0
}
