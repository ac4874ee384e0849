package segment

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/vfs"
)

// keeper writes checkpoints, frees segments without live messages, and moves stragglers out of segments with few.
type keeper struct {
	kick    chan struct{} // there may be work; capacity 1
	press   chan struct{} // the work may be urgent; capacity 1
	stop    chan struct{}
	workers sync.WaitGroup

	asked asked

	// Used by its goroutine, and by Open and Close.

	numbers  []uint64 // of the kept checkpoints, the newest first
	previous uint64   // the segment where replay from the newest checkpoint begins
	written  int64    // at the newest checkpoint, bytes since Open
	spare    index.CheckpointFile
	pause    time.Duration // until the next round
}

func (j *Journal) keepUp() {
	k := &j.keep
	defer k.workers.Done()
	defer k.asked.end(&j.mu)
	for {
		select {
		case <-k.kick:
		case <-k.stop:
			return
		}
		for j.worth() {
			if !j.wait(k.pause, j.pressed) {
				return
			}
			start := time.Now()
			err := j.round()
			if errors.Is(err, store.ErrClosed) {
				return
			}
			k.pause = max(j.options.Settle, time.Since(start))
			if err != nil && !errors.Is(err, vfs.ErrFull) {
				j.fail(err)
				return
			}
			if err != nil && !j.wait(j.options.Settle, nil) {
				return
			}
		}
		j.letGo()
	}
}

// round writes a checkpoint, if it is time for one, and moves stragglers.
func (j *Journal) round() error {
	if j.due() {
		if err := j.checkpoint(); err != nil {
			return err
		}
	}
	return j.compact()
}

// wait waits for a time, or until enough returns true; false if the journal is being closed.
func (j *Journal) wait(pause time.Duration, enough func() bool) bool {
	select {
	case <-j.keep.stop:
		return false
	default:
	}
	if pause <= 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if enough != nil && enough() {
			return true
		}
		select {
		case <-timer.C:
			return true
		case <-j.keep.press:
		case <-j.keep.stop:
			return false
		}
	}
}

// pressed reports whether the keeper must work without pauses: the log is much too long, or appends wait for it to free
// segments.
func (j *Journal) pressed() bool {
	j.mu.Lock()
	asked := len(j.keep.asked.list) > 0
	j.mu.Unlock()
	if asked {
		return true
	}
	j.log.Lock()
	defer j.log.Unlock()
	return j.log.starving > 0 || j.excess() >= 2
}

// letGo gives waiting appends the last file and the rest of the last segment when the keeper cannot free any more.
func (j *Journal) letGo() {
	l := &j.log
	l.Lock()
	l.granted = l.starving > 0 && j.stock.Has(max(j.stock.Small(), l.need), 1)
	granted := l.granted
	l.Unlock()
	if granted {
		wake(j.kick)
	}
}

// worth reports whether there is work: a checkpoint would free a segment or save much replay, or stragglers should be
// moved.
func (j *Journal) worth() bool {
	if j.due() {
		return true
	}
	j.log.Lock()
	defer j.log.Unlock()
	return j.sparse() != nil
}

// due reports whether it is time for a checkpoint.
func (j *Journal) due() bool {
	j.mu.Lock()
	asked := len(j.keep.asked.list) > 0
	j.mu.Unlock()
	return asked || int64(j.counters.bytes.Load())-j.keep.written >= j.options.SegmentSize || j.hasEmptySegment()
}

// hasEmptySegment reports whether there is a segment without live records.
func (j *Journal) hasEmptySegment() bool {
	j.log.Lock()
	defer j.log.Unlock()
	for _, s := range j.table.list() {
		if s.Over && s.Live == 0 {
			return true
		}
	}
	return false
}

// snapshot is the state at the end of a batch.
type snapshot struct {
	bytes   []byte
	segment uint64
	written int64
	empty   []*index.Segment
}

// snapshot returns the state at the end of the current batch. The log is locked; the batch must take no more records
// afterwards.
func (j *Journal) snapshot(clean bool) (s snapshot) {
	l := &j.log
	l.mark()
	c := index.Checkpoint{Clean: clean, Number: l.number, Fresh: l.fresh, Index: l.index, Segments: map[uint64]*index.Segment{}}
	c.Begin, c.Offset = l.fresh, format.BatchesFrom
	if l.tail != nil {
		if l.batch.records > 0 {
			c.Number++
		}
		l.tail.End = l.endOf(l.tail)
		c.Begin, c.Offset = l.tail.Seq, l.tail.End
	}
	for _, seg := range j.table.list() {
		c.Segments[seg.Seq] = seg
		if seg.Over && seg.Live == 0 {
			s.empty = append(s.empty, seg)
		}
	}
	s.segment = c.Begin
	s.written = int64(j.counters.bytes.Load())
	s.bytes = index.EncodeCheckpoint(c)
	return s
}

// checkpoint writes a checkpoint at the end of the encoded log, and answers those who asked for one.
func (j *Journal) checkpoint() error {
	l := &j.log
	j.mu.Lock()
	asked := j.keep.asked.take()
	j.mu.Unlock()
	l.Lock()
	err := store.ErrClosed
	if !l.ended && l.failed == nil {
		s := j.snapshot(false)
		done := l.endBatch()
		l.Unlock()
		wake(j.kick)
		if err = <-done; err == nil {
			err = j.install(s)
		}
	} else {
		l.Unlock()
	}
	for _, done := range asked {
		done(err)
	}
	return err
}

// install makes a snapshot durable, drops the oldest checkpoint, and frees segments that no checkpoint needs.
func (j *Journal) install(s snapshot) error {
	k := &j.keep
	number := uint64(1)
	if len(k.numbers) > 0 {
		number = k.numbers[0] + 1
	}
	if err := errors.Join(j.unsynced.sync(j.table, s.segment), k.takeOld(j.dir)); err != nil {
		return err
	}
	if err := k.spare.Write(number, s.bytes); err != nil {
		return err
	}
	j.counters.checkpoints.Add(1)
	k.numbers = slices.Insert(k.numbers, 0, number)
	j.progress.Change(func(m *progress.Mark) { m.Checkpoint = number })
	j.progress.Write(true)
	errs := []error{k.takeOld(j.dir), k.spare.Prepare(len(s.bytes))}
	opened := int(s.segment - min(k.previous, s.segment))
	var gone []*index.Segment
	for _, seg := range s.empty {
		if seg.Seq < k.previous {
			gone = append(gone, seg)
			j.table.discard(seg)
			j.counters.recycled.Add(1)
		}
	}
	j.moved.forget(gone)
	wake(j.kick) // appends may wait for a shorter log
	k.previous, k.written = s.segment, s.written
	return errors.Join(append(errs, j.stock.Trim(min(opened+1, maxSpares)))...)
}

// takeOld turns all but the two newest checkpoints into the spare file. A crash can leave one too many.
func (k *keeper) takeOld(dir string) error {
	for last := len(k.numbers) - 1; last > 1; last-- {
		if err := k.spare.Take(filepath.Join(dir, index.CheckpointName(k.numbers[last]))); err != nil {
			return err
		}
		k.numbers = k.numbers[:last]
	}
	return nil
}

// maxSpares is the number of spare files kept for a log that grows fast.
const maxSpares = 8

// recycle gives the file of a segment without readers to the stock.
func (j *Journal) recycle(s *index.Segment) {
	if err := j.stock.Put(j.table.path(s.Seq), s.Size, s.File); err != nil && !errors.Is(err, vfs.ErrFull) {
		j.fail(err)
	}
}

// lastCheckpoint writes the checkpoint of Close: the journal is no longer in use.
func (j *Journal) lastCheckpoint() error {
	err := j.install(j.snapshot(true))
	if errors.Is(err, vfs.ErrFull) {
		return nil // the next Open replays
	}
	return err
}
