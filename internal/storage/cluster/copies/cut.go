package copies

import (
	"io"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"

	"github.com/hashicorp/raft"
)

// Cut is the data of a node as they are after one entry. Its files must be released.
type Cut struct {
	Definitions *definitions.Cut
	Journal     *segment.Cut
}

// Cut begins a cut of definitions and journal: cut is called between two entries, as is Cut itself. wait returns the cut.
func (d *Data) Cut(cut func(*segment.Replica, func(*segment.Cut, error))) (wait func() (*Cut, error)) {
	type result struct {
		cut *segment.Cut
		err error
	}
	defs, err := d.Definitions.Cut(func() error { return nil })
	if err != nil {
		return func() (*Cut, error) { return nil, err }
	}
	got := make(chan result, 1)
	cut(d.Journal, func(c *segment.Cut, err error) { got <- result{c, err} })
	return func() (*Cut, error) {
		c := <-got
		if c.err != nil {
			defs.Release()
			return nil, c.err
		}
		return &Cut{defs, c.cut}, nil
	}
}

// pack returns the data as they are after the last entry. Entries are applied while it is read.
func (s *Store) pack() (*raft.SnapshotMeta, io.ReadCloser, error) {
	state, c, sent, err := s.cfg.Cut()
	if err != nil {
		return nil, nil, err
	}
	meta := state.meta()
	p := &Packer{Definitions: c.Definitions, Journal: c.Journal}
	meta.Size = p.Size()
	read, write := io.Pipe()
	go func() { _ = write.CloseWithError(p.Write(write)) }()
	return meta, &packed{read, sent}, nil
}

// packed is a copy that is being sent.
type packed struct {
	*io.PipeReader
	sent func()
}

// Close implements io.Closer.
func (p *packed) Close() error {
	p.sent()
	return p.PipeReader.Close()
}
