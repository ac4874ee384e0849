package definitions

import (
	"encoding/json"
	"fmt"
)

// formatVersion is the version of the tables, their keys and their contents. Version 1 had no history of policies,
// version 2 did not record who has set a parameter.
const formatVersion = 3

// counts are numbers about the definitions as a whole.
type counts struct {
	revision    uint64
	incarnation uint64 // the highest that a queue has ever had
	lines       uint64 // in all tables, to detect lost ones
	// ended are the incarnations of queues that were deleted and may have messages
	// in the journal.
	ended   []uint64
	journal uint64 // identity, 0 for none
	entry   uint64 // of the last change in the log of a cluster
}

type countsRecord struct {
	Format      int      `json:"format"`
	Revision    uint64   `json:"revision"`
	Incarnation uint64   `json:"incarnation"`
	Lines       uint64   `json:"lines"`
	Ended       []uint64 `json:"ended,omitempty"`
	Journal     uint64   `json:"journal,omitempty"`
	Entry       uint64   `json:"entry,omitempty"`
}

var countsKey = join("counts")

func readCounts(t tables) (counts, error) {
	sealed := t.get(broker, countsKey)
	if sealed == nil {
		return counts{}, nil
	}
	content, err := unseal(broker, countsKey, sealed)
	if err != nil {
		return counts{}, err
	}
	var r countsRecord
	if err := json.Unmarshal(content, &r); err != nil {
		return counts{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	switch {
	case r.Format == clusterFormat:
		return counts{}, ErrCluster
	case r.Format > formatVersion:
		return counts{}, ErrNewer
	}
	return counts{r.Revision, r.Incarnation, r.Lines, r.Ended, r.Journal, r.Entry}, nil
}

func (c counts) write(t tables) error { return c.writeAs(t, formatVersion) }

func (c counts) writeAs(t tables, format int) error {
	content, err := json.Marshal(countsRecord{format, c.revision, c.incarnation, c.lines, c.ended, c.journal, c.entry})
	if err != nil {
		return err
	}
	return t.put(broker, countsKey, seal(broker, countsKey, content))
}

// load reads all tables.
func load(t tables) (*Definitions, error) {
	known, err := readCounts(t)
	if err != nil {
		return nil, err
	}
	d := &Definitions{Revision: known.revision, Incarnation: known.incarnation, Ended: known.ended, Journal: known.journal}
	var found uint64
	for _, in := range allTables {
		if in == broker {
			continue
		}
		err := t.each(in, nil, func(key, record []byte) error {
			found++
			content, err := unseal(in, key, record)
			if err == nil {
				err = d.read(in, split(key), content)
			}
			if err != nil {
				return fmt.Errorf("%s %q: %w", in, split(key), err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if found != known.lines {
		return nil, fmt.Errorf("%w: %d lines instead of %d", ErrDamaged, found, known.lines)
	}
	return d, nil
}
