package recurring

import (
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
)

// touch notes that the progress of a schedule is to be written.
func (s *state) touch(x *schedule) {
	if !x.dirty {
		x.dirty = true
		s.changed = append(s.changed, x)
	}
}

// writeProgress writes how far the schedules came that have changed, without waiting: after a crash runs are published again, and queues
// drop those that they have (REC-10).
func (s *state) writeProgress(journal store.Journal) {
	for i, x := range s.changed {
		s.changed[i], x.dirty = nil, false
		at, id := s.now(), store.QueueID(x.spec.Incarnation)
		if x.removed {
			journal.Append(id, []store.Record{{Kind: store.Retire, Time: at}}, nil)
			continue
		}
		before := x.seq
		x.seq++
		records := append(make([]store.Record, 0, 3), store.Naming(store.Name{VHost: s.cfg.VHost.Name, Queue: parameters.ProgressPrefix + x.spec.Name}), store.Record{
			Kind: store.Put, Note: true, Time: at, First: x.seq, Last: x.seq, TTL: x.done, Deadline: x.doneFired, Priority: 1,
		})
		if before > 0 {
			records = append(records, store.Record{Kind: store.Remove, Time: at, First: before, Last: before, Why: store.Acked})
		}
		journal.Append(id, records, nil)
	}
	s.changed = s.changed[:0]
}
