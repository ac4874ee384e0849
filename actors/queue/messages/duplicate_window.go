package messages

import (
	"crypto/sha256"
	"encoding/binary"
)

// This part keeps the ids of messages that a queue has accepted within its window, to detect duplicates
// (DUP-1).
//
// Owns: hashes of the last MaxIDs ids, and the time at which each expires.
//
// Deadlines: the times of the ids; expired ids are removed up to duplicateSlack later, in bulk.
//
// A restart loses the ids of messages that were not stored; for the others, the journal has notes.

// MaxIDs is the maximum number of ids; beyond it the oldest is removed early.
const MaxIDs = 100_000

// duplicateSlack is how long an expired id may be kept, in ms.
const duplicateSlack = 1000

// ScarceIDs is the number of ids that a queue keeps while memory is scarce (Keep).
const ScarceIDs = 1000

// bytesPerID is the approximate size of an id, in bytes, with its entries in a growing map and a growing list.
const bytesPerID = 160

// DuplicateID returns a hash of a message-id and a suffix, 0 if there is no message-id. Collisions are negligible.
func DuplicateID(id []byte, suffix string) uint64 {
	if len(id) == 0 {
		return 0
	}
	if suffix != "" {
		id = append(id[:len(id):len(id)], suffix...)
	}
	sum := sha256.Sum256(id)
	return max(binary.LittleEndian.Uint64(sum[:])>>1, 1) // stored in the journal as a positive number
}

// DuplicateWindow holds the ids of a queue. A nil *DuplicateWindow is empty and valid for all methods except Add.
type DuplicateWindow struct {
	ids   map[uint64]knownID
	order []idNote // in order of arrival; repeated ids occur twice
	first int      // index of the first note that was not removed
}

type knownID struct {
	until int64  // wall ms
	seq   uint64 // number of the journal's note, 0 for none
}

type idNote struct {
	id uint64
	knownID
}

// NewDuplicateWindow returns an empty Window.
func NewDuplicateWindow() *DuplicateWindow { return &DuplicateWindow{ids: map[uint64]knownID{}} }

// Len returns the number of ids.
func (w *DuplicateWindow) Len() int {
	if w == nil {
		return 0
	}
	return len(w.ids)
}

// Bytes returns the approximate memory use of the ids.
func (w *DuplicateWindow) Bytes() int64 { return int64(w.Len()) * bytesPerID }

// Seen reports whether an id was accepted and its window has not ended at now, in wall ms, and whether the journal
// has a note of it.
func (w *DuplicateWindow) Seen(id uint64, now int64) (seen, stored bool) {
	if w == nil || id == 0 {
		return false, false
	}
	k, ok := w.ids[id]
	return ok && now < k.until, k.seq != 0
}

// Add adds an id until a time, in wall ms, with the number of the journal's note, 0 for none. It calls forget with the
// numbers of notes no longer needed.
func (w *DuplicateWindow) Add(id uint64, until int64, seq uint64, forget func(seq uint64)) {
	k := knownID{until, seq}
	w.order = append(w.order, idNote{id, k})
	w.ids[id] = k
	for len(w.ids) > MaxIDs || len(w.order)-w.first > 2*MaxIDs {
		w.drop(forget)
	}
}

// Keep removes the oldest ids above a number, limit at most.
func (w *DuplicateWindow) Keep(most, limit int, forget func(seq uint64)) {
	for n := 0; len(w.ids) > most && n < limit; n++ {
		w.drop(forget)
	}
}

// drop removes the oldest note, and its id unless the id was added again.
func (w *DuplicateWindow) drop(forget func(seq uint64)) {
	n := w.order[w.first]
	w.order[w.first] = idNote{}
	if w.first++; w.first > len(w.order)/2 {
		w.order, w.first = append(w.order[:0:0], w.order[w.first:]...), 0
	}
	if w.ids[n.id] == n.knownID {
		delete(w.ids, n.id)
	}
	if n.seq != 0 {
		forget(n.seq)
	}
}

// Next returns when Advance has to be called, in wall ms.
func (w *DuplicateWindow) Next() (at int64, ok bool) {
	if w == nil || w.first == len(w.order) {
		return 0, false
	}
	return w.order[w.first].until + duplicateSlack, true
}

// Advance removes expired ids, limit at most, and calls forget with the numbers of their notes. now is in wall ms. It
// reports whether others may be left.
func (w *DuplicateWindow) Advance(now int64, limit int, forget func(seq uint64)) (more bool) {
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
		*w = *NewDuplicateWindow()
	}
	return false
}

// Never is a time at which all ids have expired.
const Never = 1<<63 - 1
