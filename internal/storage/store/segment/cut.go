package segment

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
)

// Cut is a snapshot of the journal: a folder with its files, under their names, is a journal that was closed at that
// moment. It contains everything that was durable when it was requested, except copies of messages that it contains,
// too (store.Record.Origin). Its files are not reused until they are released, and Close waits for the release.
type Cut struct {
	Files    []*CutFile
	Messages int // that survive a restart
}

// CutFile is a file of a Cut. It must be released, once.
type CutFile struct {
	Name string
	Size int64 // bytes
	io.ReaderAt
	Release func()
}

// Cut returns a snapshot. It does not wait for room on a full disk.
func (j *Journal) Cut() (*Cut, error) {
	l := &j.log
	l.Lock()
	if l.ended || l.failed != nil {
		l.Unlock()
		return nil, store.ErrClosed
	}
	j.reads.Add(1) // the writer has not ended, so Close is not waiting for reads yet
	defer j.reads.Done()
	c, err := cut(j, true)
	done := l.endBatch()
	l.Unlock()
	wake(j.kick)
	if failed := <-done; err == nil {
		err = failed
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// cut pins the files of a journal whose log is locked: for a broker alone, or with all that a replica needs to go on. The files returned with an
// error must be released too.
func cut(j *Journal, alone bool) (*Cut, error) {
	l := &j.log
	l.mark()
	once := l.index
	if alone {
		once = l.index.Once().WithoutEntries()
	}
	c := &Cut{Messages: once.Stored()}
	point := index.Checkpoint{
		Clean: true, Number: l.number, Begin: l.fresh, Offset: format.BatchesFrom, Fresh: l.fresh,
		Index: once, Segments: map[uint64]*index.Segment{},
	}
	if l.tail != nil {
		l.tail.End = l.endOf(l.tail)
	}
	if l.batch.records > 0 {
		point.Number++
	}
	for _, s := range j.table.list() {
		if s.Live == 0 {
			continue
		}
		if _, err := j.table.pin(s.Seq); err != nil {
			return c, err
		}
		j.reads.Add(1)
		point.Segments[s.Seq] = s
		c.Files = append(c.Files, &CutFile{index.SegmentName(s.Seq), s.End, s.File, func() {
			j.table.unpin(s)
			j.reads.Done()
		}})
	}
	slices.SortFunc(c.Files, func(a, b *CutFile) int { return cmp.Compare(a.Name, b.Name) })
	b := index.EncodeCheckpoint(point)
	note := progress.Contents(progress.Mark{Journal: j.progress.Now().Journal, Newest: l.fresh - 1, Checkpoint: 1})
	c.Files = append(c.Files, made(index.CheckpointName(1), b), made(progress.Name, note))
	return c, nil
}

// made returns a file that exists only in the cut.
func made(name string, b []byte) *CutFile {
	return &CutFile{name, int64(len(b)), bytes.NewReader(b), func() {}}
}

// endBatch ends the batch being filled, with the log locked; the channel gets its result. It works even while Appends
// wait for room.
func (l *log) endBatch() <-chan error {
	done := make(chan error, 1)
	l.batch.dones = append(l.batch.dones, completion{done: func(err error) { done <- err }})
	l.batch.closed, l.batch.urgent = true, true
	return done
}

// Release releases all files.
func (c *Cut) Release() {
	for _, f := range c.Files {
		f.Release()
	}
}
