package memory

import (
	"maps"
	"slices"
	"sync"
	"time"

	"candlemark/internal/storage/store"
)

// Options of a Journal. The zero value completes at once.
type Options struct {
	// Delay between the first record of a batch and its completion.
	Delay time.Duration
	// Keep remembers records for Replay.
	Keep bool
	// Fail, if set, is called for every batch of records; an error fails the batch. It does not affect reads.
	Fail func() error
}

// Journal implements store.Journal.
type Journal struct {
	options Options
	mu      sync.Mutex
	pending []pending
	queues  map[store.QueueID]*queue
	names   map[store.QueueID]store.Name
	kept    map[store.QueueID][]store.Record
	last    store.Position // the last position given out
	closed  bool
	running bool          // a goroutine will complete pending records
	wake    chan struct{} // capacity 1
	ended   chan struct{}
}

// pending is one Append, or a request for the state after the Appends before it.
type pending struct {
	queue   store.QueueID
	records []store.Record
	done    func(error)
	late    bool // it came after Close
}

// New starts a journal; Close ends its goroutine.
func New(o Options) *Journal {
	j := &Journal{options: o, queues: map[store.QueueID]*queue{}, names: map[store.QueueID]store.Name{}, kept: map[store.QueueID][]store.Record{}}
	j.start()
	return j
}

func (j *Journal) start() {
	j.wake, j.ended, j.closed, j.running = make(chan struct{}, 1), make(chan struct{}), false, true
	go j.run()
}

// Reopen simulates a restart: it closes the journal and returns a new one with its durable contents.
func (j *Journal) Reopen(o Options) *Journal {
	_ = j.Close()
	next := &Journal{options: o, queues: map[store.QueueID]*queue{}, names: j.names, kept: j.kept, last: j.last}
	for id, q := range j.queues {
		q.taken = false
		for n, m := range q.messages {
			if m.record.Kind == store.Spill {
				delete(q.messages, n)
			}
		}
		if len(q.messages) > 0 {
			next.queues[id] = q
		}
	}
	next.start()
	return next
}

// Append implements store.Journal.
func (j *Journal) Append(q store.QueueID, records []store.Record, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	j.add(pending{queue: q, records: records, done: done})
}

// add passes p to the journal's goroutine, or to a new one if that has ended.
func (j *Journal) add(p pending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p.late = j.closed
	j.pending = append(j.pending, p)
	if !j.running {
		j.running = true
		go j.finish()
		return
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (j *Journal) run() {
	defer close(j.ended)
	for range j.wake {
		if j.options.Delay > 0 {
			time.Sleep(j.options.Delay)
		}
		if j.commit() {
			j.finish()
			return
		}
	}
}

// finish answers the calls that came after Close, in order, until none is left.
func (j *Journal) finish() {
	for {
		j.mu.Lock()
		j.running = len(j.pending) > 0
		running := j.running
		j.mu.Unlock()
		if !running {
			return
		}
		j.commit()
	}
}

// commit completes the pending calls and reports whether the journal is closed.
func (j *Journal) commit() bool {
	j.mu.Lock()
	batch, closed := j.pending, j.closed
	j.pending = nil
	var failed error
	if j.options.Fail != nil && slices.ContainsFunc(batch, func(p pending) bool { return !p.late && len(p.records) > 0 }) {
		failed = j.options.Fail()
	}
	fates := make([]error, len(batch))
	for i, p := range batch {
		switch {
		case p.late:
			fates[i] = store.ErrClosed
		case len(p.records) == 0:
		case failed != nil:
			fates[i] = failed
		default:
			j.apply(p.queue, p.records)
		}
	}
	j.mu.Unlock()
	for i, p := range batch {
		p.done(fates[i])
	}
	return closed
}

// apply applies the records of a queue.
func (j *Journal) apply(id store.QueueID, records []store.Record) {
	q := j.queues[id]
	if q == nil {
		q = &queue{messages: map[uint64]*entry{}, taken: true}
		j.queues[id] = q
	}
	for i := range records {
		r := &records[i]
		switch r.Kind {
		case store.Put, store.Spill:
			j.last++
			r.Position = j.last
			q.put(own(*r))
		case store.Named:
			j.names[id] = r.Name()
			continue
		case store.Retire:
			delete(j.names, id)
			q = &queue{messages: map[uint64]*entry{}, taken: true}
			j.queues[id] = q
		case store.Delivered, store.Returned, store.Remove, store.Released, store.Rescheduled, store.Deferred, store.Postponed, store.GivenBack:
			q.mark(r)
		case store.Applied: // of replicas only
			continue
		}
		if j.options.Keep {
			j.kept[id] = append(j.kept[id], own(*r))
		}
	}
	if len(q.messages) == 0 && q.taken {
		delete(j.queues, id)
	}
}

// Read implements store.Journal.
func (j *Journal) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	want = slices.Clone(want)
	j.add(pending{queue: q, done: func(err error) { done(j.read(q, want, err)) }})
}

func (j *Journal) read(id store.QueueID, want []store.Ref, err error) []store.Content {
	j.mu.Lock()
	defer j.mu.Unlock()
	contents := make([]store.Content, len(want))
	for i, ref := range want {
		contents[i] = store.Content{Seq: ref.Seq, Err: err}
		if err != nil {
			continue
		}
		contents[i].Err = store.ErrUnknown
		if q := j.queues[id]; q != nil && q.messages[ref.Seq] != nil {
			contents[i].Record, contents[i].Err = own(q.messages[ref.Seq].record), nil
		}
	}
	return contents
}

// Queues implements store.Journal.
func (j *Journal) Queues() []store.QueueID {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []store.QueueID
	for id, q := range j.queues {
		if !q.taken {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// Names implements store.Journal.
func (j *Journal) Names() map[store.QueueID]store.Name {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.names)
}

// Take implements store.Journal.
func (j *Journal) Take(id store.QueueID) []store.Recovered {
	j.mu.Lock()
	defer j.mu.Unlock()
	q := j.queues[id]
	if q == nil || q.taken {
		return nil
	}
	q.taken = true
	return q.list()
}

// Recall implements store.Journal.
func (j *Journal) Recall(id store.QueueID, done func([]store.Recovered, error)) {
	j.add(pending{queue: id, done: func(err error) {
		j.mu.Lock()
		var list []store.Recovered
		if q := j.queues[id]; q != nil && err == nil {
			list = q.list()
		}
		j.mu.Unlock()
		done(list, err)
	}})
}

// Replay returns the durable records of q, in order, if Keep is set.
func (j *Journal) Replay(q store.QueueID) []store.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.kept[q])
}

// Close implements store.Journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.mu.Unlock()
	if !already {
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}
	<-j.ended
	return nil
}
