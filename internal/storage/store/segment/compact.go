package segment

import (
	"cmp"
	"slices"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/vfs"
)

// Three bounds limit the length of the log: n times its live bytes plus 2n segments, with n from 2 to 4. Beyond the
// first, stragglers are moved, and each move is followed by a pause of the same length; beyond the second there are no
// pauses; beyond the third, puts wait, as they do on a full disk. A segment is worth moving if less than half of it is
// live. While the log is beyond the first bound, there is such a segment or an empty one, so the waiting always ends.
const (
	firstBound = 2
	lastBound  = 4
)

const moveAtOnce = 1 << 20 // bytes

// excess returns how many of the bounds the log exceeds, 0 to 3. The log is locked.
func (j *Journal) excess() (n int) {
	used, live := int64(0), int64(0)
	for _, s := range j.table.list() {
		used += s.Size
		if live += s.Bytes; s.Stuck {
			live += s.Size
		}
	}
	for bound := int64(firstBound); bound <= lastBound && used > bound*(live+2*j.options.SegmentSize); bound++ {
		n++
	}
	return n
}

// sparse returns the next segment that is worth moving, nil for none: a damaged one or, when the log is too long or the
// disk is full, the one that frees the most bytes. On a full disk its live bytes must fit into the file kept for moves.
// The log is locked.
func (j *Journal) sparse() (found *index.Segment) {
	used, live := int64(0), int64(0)
	short := j.stock.Short()
	for _, s := range j.table.list() {
		if s.Live == 0 {
			continue // the next checkpoint frees it
		}
		used += s.Size
		live += s.Bytes
		if !s.Over || s.Stuck {
			continue
		}
		if s.Damaged {
			return s
		}
		if 2*s.Bytes < s.Size && (!short || s.Bytes <= atOnce(j.stock.Small())) && (found == nil || s.Size-s.Bytes > found.Size-found.Bytes) {
			found = s
		}
	}
	if used <= firstBound*(live+2*j.options.SegmentSize) && !short {
		return nil
	}
	return found
}

// atOnce returns how many bytes may be moved before segments are freed. It is less than the size of the file kept for
// moves, because batches are padded to whole pages.
func atOnce(small int64) int64 { return small * 3 / 4 }

// compact moves the live messages out of at least one sparse segment.
func (j *Journal) compact() error {
	for moving := int64(0); ; {
		j.log.Lock()
		s := j.sparse()
		if s != nil && (moving == 0 || moving+s.Bytes <= atOnce(j.stock.Small())) {
			moving += s.Bytes + format.PageSize
		} else {
			s = nil
		}
		j.log.Unlock()
		if s == nil {
			return nil
		}
		if err := j.vacate(s); err != nil {
			return err
		}
	}
}

// straggler is a live message that is to be moved.
type straggler struct {
	queue store.QueueID
	store.Ref
}

// vacate appends the live messages of a segment to the end of the log, in their order. Unreadable entries stay: their
// queues get the error when they read them.
func (j *Journal) vacate(s *index.Segment) error {
	j.log.Lock()
	work := j.live(j.log.index.Queues, s, true)
	j.log.Unlock()
	var list []straggler
	for _, one := range work {
		if one.Err != nil {
			return one.Err
		}
		err := one.Read()
		j.table.unpin(one.Seg)
		if err != nil {
			return err
		}
		for q, messages := range one.Messages {
			for _, m := range messages {
				list = append(list, straggler{q, store.Ref{Seq: m.Seq, At: m.At}})
			}
			delete(one.Messages, q)
		}
	}
	slices.SortFunc(list, func(a, b straggler) int { return cmp.Compare(a.At, b.At) })
	for len(list) > 0 {
		start := time.Now()
		group, n := j.gatherUp(s, list)
		list = list[n:]
		if err := j.carry(group); err != nil {
			return err
		}
		if !j.wait(time.Since(start), j.pressed) {
			return store.ErrClosed
		}
	}
	j.log.Lock()
	s.Stuck = s.Live > 0
	j.log.Unlock()
	return nil
}

// gatherUp reads the first messages of a list and returns their number. A body that several of them share is read and
// written once.
func (j *Journal) gatherUp(s *index.Segment, list []straggler) (group []pending, n int) {
	r := reader{
		journal: j, front: windows.Get().(*format.Walker), behind: windows.Get().(*format.Walker), shared: map[int64][]byte{},
	}
	defer r.close()
	r.front.Width, r.behind.Width = format.WindowSize, format.WindowSize
	for size := int64(0); n < len(list) && size < moveAtOnce; n++ {
		m := list[n]
		c := store.Content{Seq: m.Seq, Record: store.Record{Position: m.At}}
		r.queue = m.queue
		if r.content(&c) != nil {
			continue
		}
		if size += format.PutSize(&c.Record); r.again {
			size -= int64(len(c.Record.Body))
		}
		if last := len(group) - 1; last >= 0 && group[last].queue == m.queue {
			group[last].records = append(group[last].records, c.Record)
		} else {
			group = append(group, pending{queue: m.queue, records: []store.Record{c.Record}, from: s})
		}
	}
	return group, n
}

// carry appends stragglers ahead of all waiting records and waits until they are durable. If there is no room and none
// can be freed, they stay where they are and it returns ErrFull.
func (j *Journal) carry(group []pending) error {
	done := make(chan error, 1)
	group = append(group, pending{done: func(err error) { done <- err }})
	l := &j.log
	l.Lock()
	if l.ended || l.failed != nil {
		l.Unlock()
		return store.ErrClosed
	}
	l.moves = append(l.moves, group...)
	l.Unlock()
	wake(j.kick)
	for {
		select {
		case err := <-done:
			return err
		case <-j.keep.stop:
			return store.ErrClosed
		case <-time.After(j.options.Retry):
			l.Lock()
			givesUp := len(l.moves) > 0 && l.cramped && j.stock.Short()
			if givesUp {
				l.moves = nil
			}
			l.Unlock()
			if givesUp {
				wake(j.kick) // other records waited for the moves
				return vfs.ErrFull
			}
		}
	}
}
