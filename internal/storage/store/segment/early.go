package segment

import (
	"errors"
	"fmt"
	"time"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// earlyPause is the least time between two early writes.
const earlyPause = 5 * time.Millisecond

// early writes records for which nobody waits into their file as soon as they are appended, but not more often than
// every earlyPause, and records behind a batch that is being synced too: a kill of the process does not lose them
// (DUR-5). The writer syncs them.
type early struct {
	journal *Journal
	kick    chan struct{} // there may be work; capacity 1
	rests   bool          // the next Append wakes it; guarded by mu
}

// wakes reports whether an Append wakes the early writer. mu is locked. An Append with done is written by the writer,
// if that is not busy.
func (e *early) wakes(p *pending) bool {
	if !e.rests || p.done != nil && e.journal.writer != busy {
		return false
	}
	e.rests = false
	return true
}

func (e *early) run() {
	defer e.journal.workers.Done()
	for {
		select {
		case <-e.kick:
		case <-e.journal.ended:
			return
		}
		for e.rest(true); e.write(); e.rest(true) { // rests before it looks, so that nothing is missed
			e.rest(false)
			select {
			case <-time.After(earlyPause):
			case <-e.journal.ended:
				return
			}
		}
	}
}

func (e *early) rest(rests bool) {
	e.journal.mu.Lock()
	e.rests = rests
	e.journal.mu.Unlock()
}

// write writes the records appended so far, unless the writer is about to do that. It reports whether to look again after
// a pause.
func (e *early) write() (again bool) {
	l := &e.journal.log
	l.Lock()
	e.journal.gather()
	b := l.batch
	if b.due() { // the writer may wait for room, and not know that there was some
		wake(e.journal.kick)
	}
	var err error
	ahead := l.durable+1 < b.number
	switch {
	case l.failed != nil || b.records == 0 || b.flushed():
	case b.seg.Seq > l.opened || l.flushed+1 < b.number || b.urgent && !ahead: // the writer is writing what comes before, or this
		again = true
	case b.written > 0 && b.start%format.PageSize > format.PageSize-format.BatchHead: // a kill could tear the new head
		b.closed, b.urgent, again = true, true, true
		wake(e.journal.kick)
	default:
		b.setHead(ahead)
		err = b.flush()
		again = true
	}
	l.Unlock()
	if err != nil && !errors.Is(err, vfs.ErrFull) { // the writer waits for room
		e.journal.fail(fmt.Errorf("journal: %w", err))
	}
	return again
}

// reached notes which batches are in their files, and durable.
func (l *log) reached(flushed, durable uint64) {
	l.Lock()
	defer l.Unlock()
	l.flushed, l.durable = flushed, durable
}

// again prepares that a batch is written again. The next one may be in its last page, and is written again, too.
func (l *log) again(b *batch) {
	l.Lock()
	defer l.Unlock()
	l.flushed, l.durable = b.number-1, b.number-1
	b.rewind()
	l.batch.rewind()
}
