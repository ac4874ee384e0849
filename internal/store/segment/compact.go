package segment

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"candlemark/internal/store"
	"candlemark/internal/store/vfs"
)

const (
	slack      = 4       // segments too many are not worth moving anything
	moveAtOnce = 1 << 20 // bytes
)

// compact moves what lives out of damaged segments, and out of those in which less
// than a quarter does, the oldest first, while the log is more than twice as long as
// what lives in it.
func (j *Journal) compact() error {
	for !j.stock.short.Load() {
		s := j.sparse()
		if s == nil {
			return nil
		}
		if err := j.vacate(s); err != nil {
			return err
		}
	}
	return nil
}

// sparse returns the next segment that is worth moving, nil for none.
func (j *Journal) sparse() *segment {
	j.log.Lock()
	defer j.log.Unlock()
	list := j.table.list()
	slices.SortFunc(list, func(a, b *segment) int { return cmp.Compare(a.seq, b.seq) })
	var found *segment
	used, live := int64(0), int64(0)
	for _, s := range list {
		if s.puts == 0 || s.live == 0 {
			continue
		}
		used += s.size
		share := float64(s.live) / float64(s.puts)
		live += int64(share * float64(s.end))
		if !s.over || s.stuck {
			continue
		}
		if s.sick {
			return s
		}
		if found == nil && share < 0.25 {
			found = s
		}
	}
	if used < 2*live+slack*j.options.SegmentSize {
		return nil
	}
	return found
}

// vacate puts what lives in a segment at the end of the log again. What cannot be
// read stays where it is: its queue will find out.
func (j *Journal) vacate(s *segment) error {
	j.log.Lock()
	work := j.live(0, s)
	j.log.Unlock()
	for _, one := range work {
		if one.err != nil {
			return one.err
		}
		err := one.read()
		j.table.unpin(one.seg)
		if err != nil {
			return err
		}
		for q, list := range one.messages {
			if err := j.advance(q, list); err != nil {
				return err
			}
		}
	}
	j.log.Lock()
	s.stuck = s.live > 0
	j.log.Unlock()
	return nil
}

// advance moves messages of a queue.
func (j *Journal) advance(q store.QueueID, list []store.Recovered) error {
	for len(list) > 0 {
		var want []store.Ref
		for size := uint32(0); len(want) < len(list) && size < moveAtOnce; {
			m := list[len(want)]
			size += m.Body
			want = append(want, store.Ref{Seq: m.Seq, At: m.At})
		}
		list = list[len(want):]
		for _, c := range j.read(q, want) {
			if c.Err == nil {
				j.add(pending{queue: q, records: []store.Record{c.Record}, moved: true})
			}
		}
		if err := j.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush waits until all that was appended is durable. If that waits for room, it
// frees what can be.
func (j *Journal) flush() error {
	done := make(chan error, 1)
	j.add(pending{moved: true, done: func(err error) { done <- err }})
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(j.options.Settle):
			if !j.stock.short.Load() || !j.worth() {
				continue
			}
			if err := j.checkpoint(); err != nil && !errors.Is(err, vfs.ErrFull) && !errors.Is(err, store.ErrClosed) {
				return err
			}
		}
	}
}
