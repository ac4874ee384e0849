package cluster

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
)

// Journal implements store.Journal for the broker of one term.
type Journal struct {
	front *front

	mu     sync.Mutex
	queues []store.QueueID // with messages when the term began
	lists  map[store.QueueID][]store.Recovered
}

var (
	_ store.Replicated  = (*Journal)(nil)
	_ definitions.Store = (*Definitions)(nil)
)

func newJournal(f *front, lists map[store.QueueID][]store.Recovered) *Journal {
	return &Journal{front: f, queues: slices.Sorted(maps.Keys(lists)), lists: lists}
}

// Current implements store.Replicated.
func (j *Journal) Current() bool { return !j.front.over() && j.front.node.reigns(j.front.term) }

// Append implements store.Journal.
func (j *Journal) Append(q store.QueueID, records []store.Record, done func(error)) {
	j.front.add(operation{queue: q, records: records, done: done}, done != nil)
}

// Read implements store.Journal. Damage ends the node instead of reaching the queue, which would remove the message on all
// nodes (CLU-8).
func (j *Journal) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	if j.front.over() {
		list := make([]store.Content, len(want))
		for i, ref := range want {
			list[i] = store.Content{Seq: ref.Seq, Err: j.front.reason()}
		}
		go done(list)
		return
	}
	j.front.node.copies.Data().Journal.Read(q, want, func(list []store.Content) {
		for i := range list {
			if errors.Is(list[i].Err, store.ErrDamaged) {
				j.front.node.fail(list[i].Err)
				return
			}
		}
		done(list)
	})
}

// Queues implements store.Journal.
func (j *Journal) Queues() []store.QueueID {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]store.QueueID, 0, len(j.queues))
	for _, q := range j.queues {
		if _, ok := j.lists[q]; ok {
			list = append(list, q)
		}
	}
	return list
}

// Names implements store.Journal.
func (j *Journal) Names() map[store.QueueID]store.Name {
	return j.front.node.copies.Data().Journal.Names()
}

// Take implements store.Journal.
func (j *Journal) Take(q store.QueueID) []store.Recovered {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.lists[q]
	delete(j.lists, q)
	return list
}

// Recall implements store.Journal.
func (j *Journal) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	j.front.add(operation{ask: func(err error) {
		if err != nil {
			done(nil, err)
			return
		}
		n := j.front.node
		n.copies.Data().Journal.Recall(q, func(list []store.Recovered, err error) {
			if !n.failed() { // by damage that was just found
				done(list, err)
			}
		})
	}}, true)
}

// Close implements store.Journal: it waits for earlier Appends. The node's own journal stays open.
func (j *Journal) Close() error { return j.front.close() }

// Definitions implements definitions.Store for the broker of one term.
type Definitions struct {
	front *front
}

// Apply implements definitions.Store.
func (d *Definitions) Apply(c definitions.Change, done func(uint64, error)) {
	if done == nil {
		done = func(uint64, error) {}
	}
	answer := done
	done = func(revision uint64, err error) {
		if errors.Is(err, store.ErrClosed) {
			err = definitions.ErrClosed
		}
		answer(revision, err)
	}
	b, err := c.Encode()
	if err != nil {
		go done(0, err)
		return
	}
	d.front.add(operation{change: &c, encoded: b, stored: done}, true)
}

// Load implements definitions.Store.
func (d *Definitions) Load() (*definitions.Definitions, error) {
	return d.front.node.copies.Data().Definitions.Load()
}

// Revision implements definitions.Store.
func (d *Definitions) Revision() uint64 { return d.front.node.copies.Data().Definitions.Revision() }

// Close implements definitions.Store. Earlier changes are stored by then; the node's own file stays open.
func (d *Definitions) Close() error {
	return d.front.close()
}
