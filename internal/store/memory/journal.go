package memory

import (
	"errors"
	"slices"
	"sync"
	"time"

	"candlemark/internal/store"
)

// ErrClosed is what Append tells after Close.
var ErrClosed = errors.New("memory journal is closed")

// Options of a Journal. The zero value completes at once and keeps nothing.
type Options struct {
	// Delay between the first record of a batch and its completion.
	Delay time.Duration
	// Keep remembers records for Replay.
	Keep bool
	// Fail, if set, is asked for the fate of every batch; an error fails it.
	Fail func() error
}

// Journal implements store.Journal.
type Journal struct {
	options Options
	mu      sync.Mutex
	batch   []pending
	kept    map[store.QueueID][]store.Record
	closed  bool
	wake    chan struct{} // capacity 1
	ended   chan struct{}
}

type pending struct {
	queue   store.QueueID
	records []store.Record
	done    func(error)
}

// New starts a journal; Close ends its goroutine.
func New(o Options) *Journal {
	j := &Journal{
		options: o,
		kept:    map[store.QueueID][]store.Record{},
		wake:    make(chan struct{}, 1),
		ended:   make(chan struct{}),
	}
	go j.run()
	return j
}

// Append implements store.Journal.
func (j *Journal) Append(q store.QueueID, records []store.Record, done func(error)) {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.batch = append(j.batch, pending{q, records, done})
	}
	j.mu.Unlock()
	if closed {
		done(ErrClosed)
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
			return
		}
	}
}

// commit completes what has gathered and tells whether the journal is closed.
func (j *Journal) commit() bool {
	j.mu.Lock()
	batch, closed := j.batch, j.closed
	j.batch = nil
	var err error
	if j.options.Fail != nil && len(batch) > 0 {
		err = j.options.Fail()
	}
	if j.options.Keep && err == nil {
		for _, p := range batch {
			j.kept[p.queue] = append(j.kept[p.queue], p.records...)
		}
	}
	j.mu.Unlock()
	for _, p := range batch {
		p.done(err)
	}
	return closed
}

// Replay returns the records that are durable for q, in order, if Keep is set.
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
