package duplicates

import (
	"crypto/sha256"
	"encoding/binary"

	"candlemark/protocol"
)

// Most is how many ids are known at a time; beyond it the oldest is forgotten early.
const Most = 100_000

// Slack is for how many ms an id may be remembered for nothing.
const Slack = 1000

// each is about how many bytes an id takes.
const each = 24 + 40

// ID is a number for the property message-id in raw properties with a suffix, 0 without one. Two ids with the same number are not to be met.
func ID(properties []byte, suffix string) uint64 {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || len(scan.MessageID) == 0 {
		return 0
	}
	id := scan.MessageID
	if suffix != "" {
		id = append(id[:len(id):len(id)], suffix...)
	}
	sum := sha256.Sum256(id)
	return max(binary.LittleEndian.Uint64(sum[:])>>1, 1) // it stands in the journal as a positive number
}

// Window is the ids of a queue. nil has none, and is good for all methods but Add.
type Window struct {
	ids   map[uint64]known
	order []note // in the order in which they came; some stand further behind, too
	first int    // of those that have not been forgotten
}

type known struct {
	until int64  // wall ms
	seq   uint64 // of the journal's note, 0 for none
}

type note struct {
	id uint64
	known
}

// New makes one that knows nothing.
func New() *Window { return &Window{ids: map[uint64]known{}} }

// Len is how many ids are known.
func (w *Window) Len() int {
	if w == nil {
		return 0
	}
	return len(w.ids)
}

// Bytes are about how many they take in memory.
func (w *Window) Bytes() int64 { return int64(w.Len()) * each }

// Seen reports whether an id was accepted less than its window before now, in wall ms, and whether the journal has a note of it.
func (w *Window) Seen(id uint64, now int64) (seen, stored bool) {
	if w == nil || id == 0 {
		return false, false
	}
	k, ok := w.ids[id]
	return ok && now < k.until, k.seq != 0
}

// Add remembers an id until a moment, with the number of the journal's note, 0 for none. It calls forget for the numbers of
// notes that are not needed any more.
func (w *Window) Add(id uint64, until int64, seq uint64, forget func(seq uint64)) {
	k := known{until, seq}
	w.order = append(w.order, note{id, k})
	w.ids[id] = k
	for len(w.ids) > Most || len(w.order)-w.first > 2*Most {
		w.drop(forget)
	}
}

// drop forgets the oldest note, and its id unless that came again since.
func (w *Window) drop(forget func(seq uint64)) {
	n := w.order[w.first]
	w.order[w.first] = note{}
	if w.first++; w.first > len(w.order)/2 {
		w.order, w.first = append(w.order[:0:0], w.order[w.first:]...), 0
	}
	if w.ids[n.id] == n.known {
		delete(w.ids, n.id)
	}
	if n.seq != 0 {
		forget(n.seq)
	}
}

// Next is when Advance is to be called, in wall ms.
func (w *Window) Next() (at int64, ok bool) {
	if w == nil || w.first == len(w.order) {
		return 0, false
	}
	return w.order[w.first].until + Slack, true
}

// Advance forgets ids that are over at now, in wall ms, limit at most, and calls forget for the numbers of their notes. It
// reports whether there may be more.
func (w *Window) Advance(now int64, limit int, forget func(seq uint64)) (more bool) {
	if at, ok := w.Next(); !ok || now != Never && at > now {
		return false
	}
	for n := 0; w.first < len(w.order) && w.order[w.first].until <= now; n++ {
		if n == limit {
			return true
		}
		w.drop(forget)
	}
	if len(w.ids) == 0 { // a map does not shrink
		*w = *New()
	}
	return false
}

// Never is a moment at which all are over.
const Never = 1<<63 - 1
