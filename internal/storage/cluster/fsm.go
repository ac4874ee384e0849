package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"candlemark/internal/storage/cluster/copies"
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

var _ raft.BatchingFSM = (*machine)(nil)

// Apply implements raft.FSM.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

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
		if l.Type != raft.LogCommand { // members: copies of the data have them (CLU-5)
			m.config, m.configIndex = raft.DecodeConfiguration(l.Data), l.Index
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
	data := m.node.copies.Data()
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
			m.define(data.Definitions, c, o.stored, stored)
		case l.Index > m.has:
			e.Parts = append(e.Parts, segment.Part{Queue: o.queue, Records: o.records, Done: m.watched(o.done)})
		}
	}
	if len(e.Parts) > 0 || e.Begin && l.Index > m.has {
		m.write(data.Journal, e, len(l.Data))
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
func (m *machine) Snapshot() (raft.FSMSnapshot, error) { return m.node.copies.Promise(), nil }

// Restore implements raft.FSM: a received snapshot replaces the data.
func (m *machine) Restore(from io.ReadCloser) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.node.copies.Install()
	if s != nil {
		m.adopt(s)
	}
	return errors.Join(err, from.Close())
}

// adopt makes the machine go on behind the data of a node and the snapshot of them, which may be nil.
func (m *machine) adopt(s *copies.State) {
	m.has = m.node.copies.Data().Journal.Applied()
	if s != nil {
		m.index, m.term, m.config, m.configIndex = s.Index, s.Term, raft.DecodeConfiguration(s.Configuration), s.ConfigurationIndex
	}
}

// cut returns the data as they are after the last entry, and the position of that entry. The log keeps what follows until sent is called, and a while longer.
func (m *machine) cut() (s *copies.State, c *copies.Cut, sent func(), err error) {
	s = &copies.State{}
	c, err = m.cutData(func(j *segment.Replica, done func(*segment.Cut, error)) {
		s.Index, s.Term, s.Configuration, s.ConfigurationIndex = m.index, m.term, raft.EncodeConfiguration(m.config), m.configIndex
		j.CutAll(done)
	})
	if err == nil {
		m.node.witness.hold(s.Index, catchUp)
	}
	return s, c, func() { m.node.witness.hold(s.Index, settling) }, err
}

// Cut returns the data of this node after the last entry, in the form of a broker alone: it has no vote, no members and no entries (CLU-34).
// On the leader it has everything that clients were told of.
func (n *Node) Cut() (*copies.Cut, error) { return n.machine.cutData((*segment.Replica).Cut) }

// cutData cuts the data after the last entry. cut is called between two entries.
func (m *machine) cutData(cut func(*segment.Replica, func(*segment.Cut, error))) (*copies.Cut, error) {
	m.mu.Lock()
	wait := m.node.copies.Data().Cut(cut)
	m.mu.Unlock()
	return wait()
}

// settling is how long a node may take to open a copy of the data that it has received.
const settling = 5 * time.Minute

// behind returns how many bytes of the log are behind the last snapshot.
func (n *Node) behind() uint64 {
	if saved := n.copies.Saved(); saved != nil {
		return n.log.Behind(saved.Index)
	}
	return n.log.Behind(0)
}
