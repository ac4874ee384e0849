package segment

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
)

// recovered holds messages that Open found and that were not yet taken.
type recovered struct {
	mu       sync.Mutex
	messages map[store.QueueID][][]store.Recovered
}

// Queues implements store.Journal.
func (j *Journal) Queues() []store.QueueID {
	j.recovered.mu.Lock()
	defer j.recovered.mu.Unlock()
	return slices.Sorted(maps.Keys(j.recovered.messages))
}

// Names implements store.Journal.
func (j *Journal) Names() map[store.QueueID]store.Name {
	j.log.Lock()
	defer j.log.Unlock()
	return maps.Clone(j.log.index.Names)
}

// Take implements store.Journal.
func (j *Journal) Take(q store.QueueID) []store.Recovered {
	j.recovered.mu.Lock()
	parts := j.recovered.messages[q]
	delete(j.recovered.messages, q)
	j.recovered.mu.Unlock()
	return join(parts)
}

// forget drops the messages of a queue that ended without taking them.
func (r *recovered) forget(q store.QueueID) {
	r.mu.Lock()
	delete(r.messages, q)
	r.mu.Unlock()
}

// join merges the lists of several segments into one ascending list. It releases the parts as it goes, so that a long
// queue is not in memory twice.
func join(parts [][]store.Recovered) []store.Recovered {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if len(parts) == 0 {
		return nil
	}
	list := parts[0]
	if len(parts) > 1 {
		list = make([]store.Recovered, 0, n)
		for i, p := range parts {
			list = append(list, p...)
			parts[i] = nil
		}
	}
	order := func(a, b store.Recovered) int { return cmp.Compare(a.Seq, b.Seq) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	return list
}
