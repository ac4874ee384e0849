package segment

import (
	"cmp"
	"slices"

	"candlemark/internal/store"
)

// Recall implements store.Journal.
func (j *Journal) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	var work []*scanned
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

// live copies what lives of a queue, or of all of them in one segment. The log is
// locked; the segments are pinned.
func (j *Journal) live(id store.QueueID, in *segment) (work []*scanned) {
	queues := j.log.index.queues
	if in == nil {
		queues = map[store.QueueID]*queue{}
		if q := j.log.index.queues[id]; q != nil {
			queues[id] = q
		}
	}
	bySegment := map[uint64]*scanned{}
	for id, q := range queues {
		for _, s := range q.sets {
			if in != nil && s.seg != in {
				continue
			}
			one := bySegment[s.seg.seq]
			if one == nil {
				one = newScan(s.seg, j.log.endOf(s.seg))
				one.spills = true
				bySegment[s.seg.seq] = one
				work = append(work, one)
				if _, err := j.table.pin(s.seg.seq); err != nil {
					one.err = err
				}
			}
			one.add(id, s)
		}
	}
	slices.SortFunc(work, func(a, b *scanned) int { return cmp.Compare(a.seg.seq, b.seg.seq) })
	return work
}

// endOf is where the batches of a segment end, with the one that gathers.
func (l *log) endOf(s *segment) int64 {
	if s == l.tail && l.batch.records > 0 {
		return l.batch.end()
	}
	return s.end
}

// collect reads the metadata of what lives.
func (j *Journal) collect(work []*scanned) ([]store.Recovered, error) {
	var parts [][]store.Recovered
	var failed error
	for _, one := range work {
		if one.err == nil {
			one.err = one.read()
			j.table.unpin(one.seg)
		}
		if one.err != nil {
			failed = firstOf(failed, one.err)
			continue
		}
		for _, d := range one.damages {
			j.damaged(d)
		}
		for _, list := range one.messages {
			parts = append(parts, list)
		}
	}
	return join(parts), failed
}
