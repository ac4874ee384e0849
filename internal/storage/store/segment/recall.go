package segment

import (
	"cmp"
	"slices"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
)

// Recall implements store.Journal.
func (j *Journal) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	var work []*recovery.Scanned
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.reads.Add(1)
	}
	j.mu.Unlock()
	if closed {
		go done(nil, store.ErrClosed)
		return
	}
	j.add(pending{snap: func() { work = j.live(map[store.QueueID]*index.Queue{q: j.log.index.Queues[q]}, nil, true) }, done: func(err error) {
		go func() {
			defer j.reads.Done()
			if err != nil {
				done(nil, err)
				return
			}
			parts, err := j.collect(work)
			done(join(parts[q]), err)
		}()
	}})
}

// live copies the sets of live messages of queues, in one segment or, with nil, in all. The log is locked; the segments are
// pinned.
func (j *Journal) live(queues map[store.QueueID]*index.Queue, in *index.Segment, spills bool) (work []*recovery.Scanned) {
	bySegment := map[uint64]*recovery.Scanned{}
	for id, q := range queues {
		if q == nil {
			continue
		}
		for _, s := range q.Sets {
			if in != nil && s.Seg != in || !spills && s.Spilled() {
				continue
			}
			one := bySegment[s.Seg.Seq]
			if one == nil {
				one = recovery.NewScan(s.Seg, j.log.endOf(s.Seg))
				one.Spills = spills
				bySegment[s.Seg.Seq] = one
				work = append(work, one)
				if _, err := j.table.pin(s.Seg.Seq); err != nil {
					one.Err = err
				}
			}
			one.Add(id, s)
		}
	}
	slices.SortFunc(work, func(a, b *recovery.Scanned) int { return cmp.Compare(a.Seg.Seq, b.Seg.Seq) })
	return work
}

// endOf returns the end of a segment's batches, including the one being filled.
func (l *log) endOf(s *index.Segment) int64 {
	if s == l.tail && l.batch.records > 0 {
		return l.batch.end()
	}
	return s.End
}

// collect reads the metadata of live messages, for each queue in parts.
func (j *Journal) collect(work []*recovery.Scanned) (parts map[store.QueueID][][]store.Recovered, failed error) {
	parts = map[store.QueueID][][]store.Recovered{}
	for _, one := range work {
		if one.Err == nil {
			one.Err = one.Read()
			j.table.unpin(one.Seg)
		}
		if one.Err != nil {
			failed = firstOf(failed, one.Err)
			continue
		}
		for _, d := range one.Damages {
			j.damaged(d)
		}
		for id, list := range one.Messages {
			parts[id] = append(parts[id], list)
		}
	}
	return parts, failed
}
