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
	j.add(pending{snap: func() { work = j.live(q, nil) }, done: func(err error) {
		go func() {
			defer j.reads.Done()
			if err != nil {
				done(nil, err)
				return
			}
			done(j.collect(work))
		}()
	}})
}

// live copies the sets of a queue's live messages, or of all queues in one segment. The log is locked; the segments are
// pinned.
func (j *Journal) live(id store.QueueID, in *index.Segment) (work []*recovery.Scanned) {
	queues := j.log.index.Queues
	if in == nil {
		queues = map[store.QueueID]*index.Queue{}
		if q := j.log.index.Queues[id]; q != nil {
			queues[id] = q
		}
	}
	bySegment := map[uint64]*recovery.Scanned{}
	for id, q := range queues {
		for _, s := range q.Sets {
			if in != nil && s.Seg != in {
				continue
			}
			one := bySegment[s.Seg.Seq]
			if one == nil {
				one = recovery.NewScan(s.Seg, j.log.endOf(s.Seg))
				one.Spills = true
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

// collect reads the metadata of live messages.
func (j *Journal) collect(work []*recovery.Scanned) ([]store.Recovered, error) {
	var parts [][]store.Recovered
	var failed error
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
		for _, list := range one.Messages {
			parts = append(parts, list)
		}
	}
	return join(parts), failed
}
