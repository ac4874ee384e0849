package segment

import (
	"cmp"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
)

// moved maps old positions of moved messages to new ones. It takes 16 B for each moved message, even a removed one, as
// long as the target segment exists. So it is never larger than a seventh of the log.
type moved struct {
	mu     sync.RWMutex
	queues map[store.QueueID][]*locations
}

// locations are the new places of a queue's stragglers in one segment, by sequence number.
type locations struct {
	segment uint64
	list    []location
}

type location struct {
	seq uint64
	at  store.Position
}

// publish records movements, all to one segment.
func (m *moved) publish(list []movement) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b movement) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.seq, b.seq))
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queues == nil {
		m.queues = map[store.QueueID][]*locations{}
	}
	for len(list) > 0 {
		id, n := list[0].queue, 1
		for n < len(list) && list[n].queue == id {
			n++
		}
		m.into(id, list[0].segment()).add(list[:n])
		list = list[n:]
	}
}

func (v movement) segment() uint64 { seq, _ := format.PlaceOf(v.at); return seq }

func (m *moved) into(id store.QueueID, segment uint64) *locations {
	of := m.queues[id]
	if len(of) == 0 || of[len(of)-1].segment != segment {
		of = append(of, &locations{segment: segment})
		m.queues[id] = of
	}
	return of[len(of)-1]
}

// add merges movements. Of several movements of one message the last counts.
func (p *locations) add(list []movement) {
	old := p.list
	if len(old) > 0 && old[len(old)-1].seq > list[0].seq {
		p.list = make([]location, 0, len(old)+len(list))
	} else {
		p.list, old = slices.Grow(old, len(list)), nil
	}
	for _, v := range list {
		for len(old) > 0 && old[0].seq <= v.seq {
			p.list, old = append(p.list, old[0]), old[1:]
		}
		if n := len(p.list); n > 0 && p.list[n-1].seq == v.seq {
			p.list[n-1].at = v.at
		} else {
			p.list = append(p.list, location{v.seq, v.at})
		}
	}
	p.list = append(p.list, old...)
}

// find returns the newest place of a message, nil if it was not moved.
func find(of []*locations, seq uint64) *location {
	for _, p := range slices.Backward(of) {
		if n := len(p.list); n == 0 || p.list[0].seq > seq || p.list[n-1].seq < seq {
			continue
		}
		if i, ok := slices.BinarySearchFunc(p.list, seq, func(p location, seq uint64) int { return cmp.Compare(p.seq, seq) }); ok {
			return &p.list[i]
		}
	}
	return nil
}

// resolve fills in the current positions of messages.
func (m *moved) resolve(id store.QueueID, contents []store.Content) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	of := m.queues[id]
	if len(of) == 0 {
		return
	}
	for i := range contents {
		if p := find(of, contents[i].Seq); p != nil {
			contents[i].Record.Position = p.at
		}
	}
}

// retire forgets a queue.
func (m *moved) retire(id store.QueueID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.queues, id)
}

// forget forgets moves to segments that no longer exist.
func (m *moved) forget(gone []*index.Segment) {
	if len(gone) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, of := range m.queues {
		of = slices.DeleteFunc(of, func(p *locations) bool {
			return slices.ContainsFunc(gone, func(s *index.Segment) bool { return s.Seq == p.segment })
		})
		if len(of) == 0 {
			delete(m.queues, id)
		} else {
			m.queues[id] = of
		}
	}
}
