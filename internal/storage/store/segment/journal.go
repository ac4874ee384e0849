package segment

import (
	"errors"
	"sync"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/segment/spare"
	"candlemark/internal/storage/store/vfs"
)

// Folder is the name of the journal's folder in the data folder of a broker.
const Folder = recovery.Folder

// Options of a Journal. Zero values mean the defaults.
type Options struct {
	// SegmentSize in bytes, 64 MiB by default; rounded up to pages.
	SegmentSize int64
	// Lag is how long records without done may wait for their sync, 50 ms by default.
	Lag time.Duration
	// Settle is the least time between two checkpoints, 1 s by default.
	Settle time.Duration
	// Retry is the time between two tries on a full disk, 200 ms by default.
	Retry time.Duration
	// Quarantine is the folder that damaged files are copied to; by default the folder of that name beside the
	// journal's.
	Quarantine string
	// OnFailure is called once when a write or sync failed: nothing more can be stored. OnFull is called with true when
	// there is no room for the next segment, and with false when there is room again. OnDamage is called for damage
	// found after Open. All are called from goroutines of the journal.
	OnFailure func(error)
	OnFull    func(bool)
	OnDamage  func(recovery.Damage)

	replica bool // for a Replica
}

func (o *Options) defaults(dir string) {
	if o.SegmentSize == 0 {
		o.SegmentSize = 64 << 20
	}
	o.SegmentSize = max(format.RoundUp(o.SegmentSize), 4*format.PageSize)
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Lag, 50*time.Millisecond)
	set(&o.Settle, time.Second)
	set(&o.Retry, 200*time.Millisecond)
	if o.Quarantine == "" {
		o.Quarantine = recovery.QuarantineOf(dir)
	}
	if o.OnFailure == nil {
		o.OnFailure = func(error) {}
	}
	if o.OnFull == nil {
		o.OnFull = func(bool) {}
	}
	if o.OnDamage == nil {
		o.OnDamage = func(recovery.Damage) {}
	}
}

// doing is the activity of the writer.
type doing uint8

const (
	busy    doing = iota // it will look for more work by itself
	waiting              // it has records without done
	idle                 // it has no work
	over                 // it has ended
)

// Journal implements store.Journal in files.
type Journal struct {
	fs      vfs.FS
	dir     string
	options Options
	salt    uint64 // of the segments of this process

	// mu guards incoming records. It is never held for long.
	mu       sync.Mutex
	pending  []pending
	waiting  int // approximate number of records in pending
	writer   doing
	closed   bool
	failed   error
	reported sync.Once     // OnFailure
	late     []func(error) // the done functions of Appends after Close
	kick     chan struct{} // wakes the writer, capacity 1
	help     chan struct{} // wakes the helper, capacity 1

	log      log
	commits  commits
	early    early
	unsynced unsynced
	table    *table
	stock    *spare.Stock
	progress *progress.File
	moved    moved
	keep     keeper

	completions completions
	recovered   recovered
	readers     chan struct{} // slots of Reads
	reads       sync.WaitGroup
	ended       chan struct{} // the writer has ended
	workers     sync.WaitGroup
	counters    counters
}

// pending is one Append, or a request for the state of the log after the Appends before it.
type pending struct {
	queue   store.QueueID
	records []store.Record
	at      int // the next record to be encoded
	done    func(error)
	from    *index.Segment // the records are stragglers from this segment
	// snap is called with the log locked and at the end of a batch; done is called
	// when that batch is durable.
	snap func()
	err  error
	// entry replaces queue, records and done.
	entry *Entry
}

// Append implements store.Journal.
func (j *Journal) Append(q store.QueueID, records []store.Record, done func(error)) {
	j.add(pending{queue: q, records: records, done: done})
}

func (j *Journal) add(p pending) {
	j.mu.Lock()
	if j.closed {
		switch {
		case p.entry != nil:
			go p.entry.refuse(store.ErrClosed)
		case p.done == nil:
		case p.snap != nil: // Close may wait for the caller
			go p.done(store.ErrClosed)
		default:
			if j.late = append(j.late, p.done); len(j.late) == 1 {
				go j.refuse()
			}
		}
		j.mu.Unlock()
		return
	}
	j.pending = append(j.pending, p)
	j.waiting += len(p.records)
	kick := j.writer == idle || j.writer == waiting && p.waits()
	help := j.writer == busy && j.waiting >= helpFrom
	if kick {
		j.writer = busy
	}
	if help {
		j.waiting = 0
	}
	early := !j.options.replica && j.early.wakes(&p)
	j.mu.Unlock()
	if early {
		wake(j.early.kick)
	}
	if kick {
		wake(j.kick)
	}
	if help {
		wake(j.help)
	}
}

// refuse fails the Appends that came after Close, in order and after all earlier ones.
func (j *Journal) refuse() {
	<-j.ended
	for n := 0; ; n++ {
		j.mu.Lock()
		if n == len(j.late) {
			j.late = nil
			j.mu.Unlock()
			return
		}
		done := j.late[n]
		j.mu.Unlock()
		done(store.ErrClosed)
	}
}

// helpFrom is the number of records that is worth waking the helper for while the writer waits for the disk.
const helpFrom = 64

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close implements store.Journal. It leaves a checkpoint, so that the next Open replays nothing. Appends that waited
// for room on a full disk fail with the returned error.
func (j *Journal) Close() error {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.writer = busy
	j.mu.Unlock()
	if already {
		<-j.ended
		return j.failure()
	}
	close(j.keep.stop)
	wake(j.kick)
	j.keep.workers.Wait() // the writer still completes the batches it waits for
	j.stock.LastTry()
	wake(j.kick)
	<-j.ended
	j.stock.Stop()
	close(j.help)
	j.workers.Wait()
	j.reads.Wait()
	err := j.failure()
	if err == nil {
		err = errors.Join(j.log.failed, j.lastCheckpoint()) // failed is errFull for lack of room
	}
	j.stock.Close()
	j.table.close()
	j.progress.Close()
	return err
}

func (j *Journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}
