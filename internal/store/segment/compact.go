package segment

import (
	"cmp"
	"slices"

	"candlemark/internal/store"
)

const (
	slack      = 4       // segments too many are not worth moving anything
	moveAtOnce = 1 << 20 // bytes
)

// compact moves what lives out of segments in which less than a quarter does, the
// oldest first, while the log is more than twice as long as what lives in it.
func (j *Journal) compact() error {
	for {
		s := j.sparse()
		if s == nil {
			return nil
		}
		if err := j.vacate(s); err != nil {
			return err
		}
	}
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
		if found == nil && s.over && !s.stuck && share < 0.25 {
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
	size := int64(0)
	for _, one := range work {
		if one.err != nil {
			return one.err
		}
		var failed error
		one.move = func(e *entry) {
			r := own(e.record)
			j.add(pending{queue: e.queue, records: []store.Record{r}, moved: true})
			if size += putSize(&r); size > moveAtOnce && failed == nil {
				size, failed = 0, j.flush()
			}
		}
		err := one.read()
		j.table.unpin(one.seg)
		if err = firstOf(err, failed); err != nil {
			return err
		}
	}
	err := j.flush()
	j.log.Lock()
	s.stuck = s.live > 0
	j.log.Unlock()
	return err
}

// flush waits until all that was appended is durable.
func (j *Journal) flush() error {
	done := make(chan error, 1)
	j.add(pending{done: func(err error) { done <- err }})
	return <-done
}

// own copies what a record points at.
func own(r store.Record) store.Record {
	for _, b := range []*[]byte{&r.Exchange, &r.RoutingKey, &r.Header, &r.Body, &r.Overlay} {
		*b = slices.Clone(*b)
	}
	return r
}
