package queue

import (
	"maps"

	"candlemark/internal/storage/store"
)

// keptMessage is a message in the journal.
type keptMessage struct {
	at   int64 // its deadline
	body []byte
}

// replayed returns the messages that records lead to, by sequence number.
func replayed(records []store.Record) map[uint64]keptMessage {
	messages := map[uint64]keptMessage{}
	for _, r := range records {
		switch r.Kind {
		case store.Put:
			messages[r.First] = keptMessage{r.Deadline, r.Body}
		case store.Remove:
			strike(messages, &r)
		case store.Retire:
			clear(messages)
		case store.Spill, store.Delivered, store.Returned, store.Released, store.Rescheduled, store.Named, store.Deferred, store.Postponed, store.GivenBack, store.Applied:
		}
	}
	return messages
}

// strike removes the numbers of r from m.
func strike[V any](m map[uint64]V, r *store.Record) {
	if r.Last-r.First > uint64(len(m)) {
		maps.DeleteFunc(m, func(n uint64, _ V) bool { return r.First <= n && n <= r.Last })
		return
	}
	for n := r.First; n <= r.Last; n++ {
		delete(m, n)
	}
}
