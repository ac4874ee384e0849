package backlog

// retimed holds, for messages whose deadline was changed, the deadline that was fixed when they entered the queue, by
// segment; 0 for others. A queue without such messages has none.
type retimed map[uint32]*[segmentSize]int64

// entrySize is the approximate size of an element of retimed, in bytes.
const entrySize = segmentSize*8 + 32

// Entered returns the deadline, in wall ms, that was fixed when h entered the queue (TTL-9). Record.Deadline is the
// deadline at Push.
func Entered(b *Backlog, h Handle) int64 {
	if b.rare != nil {
		if fixed := b.rare.retimed[h>>segmentBits]; fixed != nil && fixed[h&segmentMask] != 0 {
			return fixed[h&segmentMask]
		}
	}
	return b.Entry(h).Deadline
}

// Retime changes the deadline of h, which must be off the wheel. Entered stays the same.
func Retime(b *Backlog, h Handle, deadline int64) {
	e, entered := b.Entry(h), Entered(b, h)
	if e.Deadline = deadline; deadline != entered {
		x := withRare(b)
		if x.retimed == nil {
			x.retimed = retimed{}
		}
		fixed := x.retimed[h>>segmentBits]
		if fixed == nil {
			fixed = new([segmentSize]int64)
			x.retimed[h>>segmentBits] = fixed
		}
		fixed[h&segmentMask] = max(entered, 1)
		return
	}
	if b.rare == nil {
		return
	}
	if fixed := b.rare.retimed[h>>segmentBits]; fixed != nil {
		fixed[h&segmentMask] = 0
		b.rare.retimed.drop(h>>segmentBits, fixed)
	}
}

// drop releases the array of a segment if it holds nothing.
func (r retimed) drop(s uint32, fixed *[segmentSize]int64) {
	if *fixed == [segmentSize]int64{} {
		delete(r, s)
	}
}

// size returns the bytes of memory used.
func (r retimed) size() int64 { return int64(len(r)) * entrySize }
