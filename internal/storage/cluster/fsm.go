package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"

	"github.com/hashicorp/raft"
)

// unwritten is how many bytes of entries may wait for the journal.
const unwritten = 32 << 20

// machine applies committed entries to the replica, in their order, on every node.
type machine struct {
	node *Node

	mu          sync.Mutex // held while entries are applied, or the replica is read as a whole
	has         uint64     // the last entry that the journal had when it was opened
	index       uint64     // of the last entry
	term        uint64
	config      raft.Configuration
	configIndex uint64

	asks []func(error) // to be called when the changes before them are stored

	room    sync.Mutex
	freed   sync.Cond
	pending int       // bytes that the journal has not written
	moved   time.Time // when the journal has written something for the last time, or had nothing to write
}

func newMachine(n *Node) *machine {
	m := &machine{node: n}
	m.freed.L = &m.room
	return m
}

var (
	_ raft.BatchingFSM        = (*machine)(nil)
	_ raft.ConfigurationStore = (*machine)(nil)
)

// Apply implements raft.FSM.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// StoreConfiguration implements raft.ConfigurationStore.
func (m *machine) StoreConfiguration(index uint64, c raft.Configuration) {
	m.mu.Lock()
	m.config, m.configIndex = c, index
	m.index = max(m.index, index)
	m.mu.Unlock()
}

// applied returns the number of the last entry.
func (m *machine) applied() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.index
}

// ApplyBatch implements raft.BatchingFSM. Changes of definitions are stored when it returns; the journal may be behind.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	var stored sync.WaitGroup
	for _, l := range logs {
		if m.node.failed() {
			break
		}
		m.index, m.term = l.Index, l.Term
		if l.Type != raft.LogCommand {
			continue
		}
		if err := m.apply(l, &stored); err != nil {
			m.node.fail(fmt.Errorf("entry %d of the log: %w", l.Index, err))
		}
	}
	stored.Wait()
	for _, ask := range m.asks {
		go ask(nil)
	}
	m.asks = nil
	return make([]any, len(logs))
}

func (m *machine) apply(l *raft.Log, stored *sync.WaitGroup) error {
	from, err := checkEntry(l.Data)
	if err != nil {
		return err
	}
	m.node.timing.clocks.Least(from.at)
	list := m.node.sentBy(from.sender, from.number)
	if list == nil {
		if list, err = decodeEntry(l.Data); err != nil {
			return err
		}
	}
	r := m.node.replica()
	e := &segment.Entry{Number: l.Index}
	for i := range list {
		o := &list[i]
		switch {
		case o.begin:
			e.Begin = true
			if o.done != nil {
				m.asks = append(m.asks, o.done)
			}
		case o.ask != nil:
			m.asks = append(m.asks, o.ask)
		case o.change != nil:
			c := *o.change
			c.Entry = l.Index<<16 | uint64(i+1)
			m.define(r.definitions, c, o.stored, stored)
		case l.Index > m.has:
			e.Parts = append(e.Parts, segment.Part{Queue: o.queue, Records: o.records, Done: m.watched(o.done)})
		}
	}
	if len(e.Parts) > 0 || e.Begin && l.Index > m.has {
		m.write(r.journal, e, len(l.Data))
	}
	return nil
}

// watched returns done; an error of the journal ends the node first and is no answer, as other nodes have the records.
func (m *machine) watched(done func(error)) func(error) {
	return func(err error) {
		if err != nil && m.node.fatal(err) {
			return
		}
		if done != nil {
			done(err)
		}
	}
}

func (m *machine) define(f *definitions.File, c definitions.Change, done func(uint64, error), stored *sync.WaitGroup) {
	stored.Add(1)
	f.Apply(c, func(revision uint64, err error) {
		defer stored.Done()
		if err != nil && m.node.fatal(err) {
			return
		}
		if done != nil {
			done(revision, err)
		}
	})
}

// write hands an entry to the journal when there is room for it.
func (m *machine) write(j *segment.Replica, e *segment.Entry, size int) {
	m.room.Lock()
	for m.pending > unwritten {
		m.freed.Wait()
	}
	if m.pending == 0 {
		m.moved = time.Now()
	}
	m.pending += size
	m.room.Unlock()
	e.Parts = append(e.Parts, segment.Part{Done: func(error) {
		m.room.Lock()
		m.pending -= size
		m.moved = time.Now()
		m.room.Unlock()
		m.freed.Broadcast()
	}})
	j.Apply(e)
}

// stalled returns for how long the journal has written nothing of what it has to write.
func (m *machine) stalled() time.Duration {
	m.room.Lock()
	defer m.room.Unlock()
	if m.pending == 0 {
		return 0
	}
	return time.Since(m.moved)
}

// Snapshot implements raft.FSM. A snapshot is the promise that everything applied so far is durable; the bytes are read when
// another node needs them.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) { return promise{m.node}, nil }

// Restore implements raft.FSM: a received snapshot replaces the replica.
func (m *machine) Restore(from io.ReadCloser) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.node.install(), from.Close())
}

type promise struct{ node *Node }

// Persist implements raft.FSMSnapshot.
func (p promise) Persist(to raft.SnapshotSink) (err error) {
	r := p.node.replica()
	if k, ok := to.(*sink); ok { // what the replica has before it is settled is durable then
		k.state.Journal = r.journal.Applied()
		if k.state.Definitions, err = r.definitions.Entry(); err != nil {
			return err
		}
	}
	settled := make(chan error, 1)
	r.journal.Settle(func(err error) { settled <- err })
	return <-settled
}

// Release implements raft.FSMSnapshot.
func (p promise) Release() {}
