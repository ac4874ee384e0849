package copies

import (
	"errors"
	"fmt"

	"candlemark/internal/storage/cluster/raftlog"

	"github.com/hashicorp/raft"
)

// Follow drops a log that ends before the snapshot, or has another entry in the place of its last one: the node ended between the two steps of
// installing one. A snapshot and a log that do not meet are damage. It returns the log as raft sees it.
func (s *Store) Follow(log *raftlog.Log) (raft.LogStore, error) {
	s.log = log
	e := entries{log, s}
	saved := s.Saved()
	if saved == nil {
		return e, nil
	}
	first, _ := log.FirstIndex()
	last, _ := log.LastIndex()
	if last > 0 && first > saved.Index+1 {
		return nil, fmt.Errorf("%w: it begins at entry %d, the snapshot ends at %d", raftlog.ErrDamaged, first, saved.Index)
	}
	var found raft.Log
	if last == 0 || first == saved.Index+1 || log.GetLog(saved.Index, &found) == nil && found.Term == saved.Term {
		return e, nil
	}
	return e, drop(log)
}

// Has reports whether the node has an entry, and so all before it: in the data, or in the log.
func (s *Store) Has(term, index uint64) bool {
	if saved := s.Saved(); saved != nil && saved.Index >= index {
		return true
	}
	var e raft.Log
	return s.log.GetLog(index, &e) == nil && e.Term == term
}

// drop removes all entries of a log.
func drop(l *raftlog.Log) error {
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	return l.DeleteRange(first, last)
}

// entries is the log as raft sees it: with the entry with which the snapshot ends, behind which the log may begin. Without it, raft refuses a call that a
// leader repeats, if the first entry behind a copy is stored already, and gets copies for ever. A leader never sends that entry: it lacks the one before,
// and sends a copy. Entry 1 needs none before: if it were found here, it would be sent in place of the copy.
type entries struct {
	*raftlog.Log
	store *Store
}

// GetLog implements raft.LogStore.
func (e entries) GetLog(index uint64, to *raft.Log) error {
	err := e.Log.GetLog(index, to)
	if errors.Is(err, raft.ErrLogNotFound) {
		if s := e.store.Saved(); s != nil && s.Index == index && index > 1 {
			*to, err = raft.Log{Index: index, Term: s.Term, Type: raft.LogNoop}, nil
		}
	}
	return err
}
