package segment

import (
	"errors"
	"fmt"
	"time"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/vfs"
)

// commits is the writer's part of a journal that makes batches durable.
type commits struct {
	journal *Journal
	lastTry bool // the journal was being closed when a batch was tried last
}

// commit makes a batch durable, or fails the journal. Without room for it, it waits and writes the batch again (DUR-4).
func (c *commits) commit(b *batch) {
	if b.err = c.journal.failure(); b.err != nil || b.records == 0 {
		return // an empty one fails too: a checkpoint that waits for it contains records that failed before
	}
	began := time.Now()
	for b.err = c.write(b); errors.Is(b.err, vfs.ErrFull); b.err = c.write(b) {
		c.journal.log.again(b)
		if !c.awaitRoom() {
			b.err = c.giveUp()
			return
		}
	}
	c.journal.stock.Lacks(false)
	if b.err != nil {
		b.err = fmt.Errorf("journal: %w", b.err)
		c.journal.fail(b.err)
		return
	}
	c.journal.counters.took.Observe(time.Since(began))
	c.journal.counters.batches.Add(1)
	c.journal.counters.records.Add(uint64(b.records))
	c.journal.counters.bytes.Add(uint64(format.RoundUp(b.end()) - b.start))
	c.journal.counters.moved.Add(uint64(len(b.moved)))
	if !c.journal.options.replica {
		c.journal.progress.Change(b.reached)
	}
}

// reached changes a mark: the batch is durable.
func (b *batch) reached(m *progress.Mark) {
	if m.Segment != b.seg.Seq {
		m.Segment, m.First, m.Records = b.seg.Seq, b.number, 0
	}
	m.Batch, m.End = b.number, b.end()
	m.Records += uint64(b.records)
}

// write writes and syncs a batch; if it is the first of its segment, the segment gets its name before.
func (c *commits) write(b *batch) error {
	if b.seg.Seq > c.journal.log.opened { // only the writer changes it
		if err := c.open(b.seg); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	c.journal.log.reached(b.number, b.number-1)
	if c.journal.options.replica {
		return c.journal.unsynced.wrote(c.journal.table, b.seg)
	}
	if err := b.seg.File.Sync(); err != nil {
		return err
	}
	c.journal.log.reached(b.number, b.number)
	return nil
}

// open gives a spare file the header and the name of its segment. The header is synced first, so that a torn header
// means damage. After an error it continues where it was.
func (c *commits) open(s *index.Segment) error {
	if s.Spare != "" {
		if _, err := s.File.WriteAt(format.EncodeHeader(s.Seq, c.journal.salt, s.Size), 0); err != nil {
			return err
		}
		if err := s.File.Sync(); err != nil {
			return err
		}
		if err := c.journal.fs.Rename(s.Spare, c.journal.table.path(s.Seq)); err != nil {
			return err
		}
		s.Spare = ""
	}
	if err := c.journal.fs.SyncDir(c.journal.dir); err != nil {
		return err
	}
	c.journal.progress.Change(func(m *progress.Mark) { m.Newest = s.Seq })
	if err := c.journal.progress.Sync(); err != nil {
		return err
	}
	c.journal.log.Lock()
	c.journal.log.opened = s.Seq
	c.journal.log.Unlock()
	return nil
}

// awaitRoom raises the alarm and waits until a batch is to be tried again; false if the journal was being closed at the
// last try.
func (c *commits) awaitRoom() bool {
	if c.lastTry {
		return false
	}
	c.journal.stock.Lacks(true)
	retry := time.NewTimer(c.journal.options.Retry)
	defer retry.Stop()
	for {
		c.journal.mu.Lock()
		c.lastTry = c.journal.closed
		c.journal.mu.Unlock()
		if c.lastTry {
			return true
		}
		select {
		case <-c.journal.kick: // perhaps by Close
		case <-retry.C:
			return true
		}
	}
}

// giveUp fails all Appends of a journal that is closed without room for a batch. The index has records that the log does
// not have, so Close must not write a checkpoint.
func (c *commits) giveUp() error {
	c.journal.mu.Lock()
	c.journal.failed = errFull
	c.journal.mu.Unlock()
	c.journal.log.Lock()
	c.journal.log.failed = errFull
	c.journal.log.Unlock()
	return errFull
}
