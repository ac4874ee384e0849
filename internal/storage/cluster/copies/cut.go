package copies

import (
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
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
