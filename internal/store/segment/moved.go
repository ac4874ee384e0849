package segment

import (
	"sync"

	"candlemark/internal/store"
)

// moved knows where stragglers went, for those who have their old positions.
type moved struct {
	mu     sync.RWMutex
	queues map[store.QueueID]map[uint64]store.Position
}

func (m *moved) publish(list []movement) {
	if len(list) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range list {
		if m.queues == nil {
			m.queues = map[store.QueueID]map[uint64]store.Position{}
		}
		q := m.queues[v.queue]
		if q == nil {
			q = map[uint64]store.Position{}
			m.queues[v.queue] = q
		}
		q[v.seq] = v.at
	}
}

// resolve puts in the present positions of messages.
func (m *moved) resolve(id store.QueueID, contents []store.Content) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	q := m.queues[id]
	if len(q) == 0 {
		return
	}
	for i := range contents {
		if at, ok := q[contents[i].Seq]; ok {
			contents[i].Record.Position = at
		}
	}
}

// forget drops messages that are gone.
func (m *moved) forget(id store.QueueID, r *store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.queues[id]
	if q == nil {
		return
	}
	if r.Kind == store.Remove {
		forget(q, r.First, r.Last)
	}
	if r.Kind == store.Retire || len(q) == 0 {
		delete(m.queues, id)
	}
}
