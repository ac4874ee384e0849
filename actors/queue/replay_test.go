package queue

import "candlemark/internal/store"

// kept is a message as the journal knows it.
type keptMessage struct {
	at   int64 // its deadline
	body []byte
}

// replayed is what records lead to, by sequence number.
func replayed(records []store.Record) map[uint64]keptMessage {
	messages := map[uint64]keptMessage{}
	for _, r := range records {
		switch r.Kind {
		case store.Put:
			messages[r.First] = keptMessage{r.Deadline, r.Body}
		case store.Remove:
			for n := r.First; n <= r.Last; n++ {
				delete(messages, n)
			}
		case store.Retire:
			clear(messages)
		case store.Spill, store.Delivered, store.Returned, store.Released, store.Rescheduled:
		}
	}
	return messages
}
