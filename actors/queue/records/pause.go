package records

import "candlemark/internal/storage/store"

// PauseNote is the TTL of the note that Paused writes; other notes have -1 or more.
const PauseNote = -2

// Paused writes a note with its own number: deliveries are stopped until a time.
func (w *Writer) Paused(seq uint64, now, until int64) {
	w.committing().note(store.Record{Time: now, First: seq, Last: seq, Deadline: until, TTL: PauseNote})
}
