package cluster

import (
	"io"
	"time"

	"candlemark/internal/storage/cluster/archive"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"

	"github.com/hashicorp/raft"
)

// cut returns the replica as it is after the last entry. Entries are applied while it is read.
func (m *machine) cut() (*raft.SnapshotMeta, io.ReadCloser, error) {
	var s state
	c, err := m.cutData(func(j *segment.Replica, done func(*segment.Cut, error)) {
		s = state{Index: m.index, Term: m.term, Configuration: raft.EncodeConfiguration(m.config), ConfigurationIndex: m.configIndex}
		j.CutAll(done)
	})
	if err != nil {
		return nil, nil, err
	}
	meta := s.meta()
	p := &archive.Packer{Definitions: c.Definitions, Journal: c.Journal}
	meta.Size = p.Size()
	read, write := io.Pipe()
	go func() { _ = write.CloseWithError(p.Write(write)) }()
	m.node.witness.hold(s.Index, time.Now().Add(catchUp))
	return meta, &packed{read, func() { m.node.witness.hold(s.Index, time.Now().Add(settling)) }}, nil
}

// Cut is the data of a node as they are after one entry. Its files must be released.
type Cut struct {
	Definitions *definitions.Cut
	Journal     *segment.Cut
}

// Cut returns the data of this node after the last entry, in the form of a broker alone: it has no vote, no members and no entries (CLU-34).
// On the leader it has everything that clients were told of.
func (n *Node) Cut() (*Cut, error) { return n.machine.cutData((*segment.Replica).Cut) }

// cutData cuts definitions and journal after the last entry. cut is called between two entries.
func (m *machine) cutData(cut func(*segment.Replica, func(*segment.Cut, error))) (*Cut, error) {
	type result struct {
		cut *segment.Cut
		err error
	}
	got := make(chan result, 1)
	m.mu.Lock()
	r := m.node.replica()
	defs, err := r.definitions.Cut(func() error { return nil })
	if err == nil {
		cut(r.journal, func(c *segment.Cut, err error) { got <- result{c, err} })
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c := <-got
	if c.err != nil {
		defs.Release()
		return nil, c.err
	}
	return &Cut{defs, c.cut}, nil
}

// packed is a replica that is being sent.
type packed struct {
	*io.PipeReader
	sent func()
}

// settling is how long a node may take to open a copy of the data that it has received.
const settling = 5 * time.Minute

// Close implements io.Closer.
func (p *packed) Close() error {
	p.sent()
	return p.PipeReader.Close()
}
