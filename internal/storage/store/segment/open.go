package segment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/segment/spare"
	"candlemark/internal/storage/store/vfs"
)

// Open opens the journal in a folder, which it creates if missing, and reads it. Only one process at a time may do so;
// the caller ensures that (the definitions are locked). Errors come from the file system; damage is not an error but is
// in the report.
func Open(fs vfs.FS, dir string, o Options) (*Journal, recovery.Report, error) {
	j, report, err := load(fs, dir, o)
	if err != nil {
		return nil, recovery.Report{}, err
	}
	j.start()
	j.startKeeper()
	return j, report, nil
}

// load does all of Open except starting the goroutines.
func load(fs vfs.FS, dir string, o Options) (*Journal, recovery.Report, error) {
	start := time.Now()
	o.defaults(dir)
	if err := errors.Join(fs.MakeDir(dir), fs.SyncDir(filepath.Dir(dir))); err != nil {
		return nil, recovery.Report{}, fmt.Errorf("journal: %w", err)
	}
	f, err := recovery.Look(fs, dir)
	if err != nil {
		return nil, recovery.Report{}, fmt.Errorf("journal: %w", err)
	}
	f.Unsynced = o.replica
	r, err := f.Recover()
	if err != nil {
		return nil, recovery.Report{}, fmt.Errorf("journal: %w", err)
	}
	j := newJournal(fs, dir, o, r)
	if err := j.prepare(r); err != nil {
		j.stock.Close()
		j.table.close()
		j.progress.Close()
		return nil, recovery.Report{}, fmt.Errorf("journal: %w", err)
	}
	r.Report.Duration = time.Since(start)
	return j, r.Report, nil
}

func newJournal(fs vfs.FS, dir string, o Options, r *recovery.Recovery) *Journal {
	j := &Journal{
		fs: fs, dir: dir, options: o, salt: rand.Uint64(), kick: make(chan struct{}, 1), help: make(chan struct{}, 1),
		table: newTable(fs, dir), ended: make(chan struct{}), readers: make(chan struct{}, maxReads),
	}
	j.keep.kick, j.keep.press, j.keep.stop = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	j.keep.pause, j.keep.spare = o.Settle, index.NewCheckpointFile(fs, dir, r.SpareCheckpoint)
	j.keep.numbers, j.keep.previous = r.Checkpoints, r.Begin
	j.progress = progress.New(fs, dir, progress.Mark{Journal: rand.Uint64() | 1, Newest: r.Highest}, j.fail)
	j.stock = spare.New(spare.Config{
		FS: fs, Dir: dir, Size: o.SegmentSize, Small: smallOf(o.SegmentSize), Number: r.HighSpare,
		Full: o.OnFull, Fail: j.fail, Got: func() { wake(j.kick); wake(j.keep.kick) },
	})
	j.table.free = j.recycle
	j.recovered.messages = r.Messages
	j.log.index, j.log.number, j.log.fresh = r.Index, max(r.Number, 1), r.Fresh
	for id, q := range j.log.index.Queues {
		if len(q.Sets) == 0 {
			delete(j.log.index.Queues, id)
		}
	}
	for _, s := range r.Known {
		j.table.add(s)
	}
	j.log.batch = &batch{}
	j.commits.journal, j.log.opened = j, r.Fresh-1
	j.log.flushed, j.log.durable = j.log.number-1, j.log.number-1
	j.early = early{journal: j, kick: make(chan struct{}, 1), rests: true}
	return j
}

// prepare puts the folder in order before anything is written to the log: it copies damaged files, makes the replayed
// records durable and writes a checkpoint.
func (j *Journal) prepare(r *recovery.Recovery) error {
	if err := r.Preserve(j.options.Quarantine); err != nil {
		return err
	}
	if err := j.progress.Open(); err != nil {
		return err
	}
	last := r.Tail
	if r.Clean {
		last = r.Known[r.Begin]
	}
	if last != nil {
		s, err := j.table.pin(last.Seq)
		if err != nil {
			return err
		}
		err = s.File.Sync()
		j.table.unpin(s)
		if err != nil {
			return err
		}
	}
	if err := j.tidy(r); err != nil {
		return err
	}
	for _, d := range r.Damages {
		if seq, ok := recovery.Numbered(d.File, "", ".segment"); ok && r.Known[seq] != nil && d.Offset >= 2*format.HeaderSize {
			r.Known[seq].Damaged = true
		}
	}
	if r.Clean && last != nil && !last.Damaged {
		last.Over, last.End = false, r.Offset
		j.log.tail = last
	}
	// From now on there are two checkpoints and a spare file, which is enough for all later checkpoints, even on a full
	// disk.
	err := j.install(j.snapshot(false))
	if err == nil && len(j.keep.numbers) < 2 {
		err = j.install(j.snapshot(false))
	}
	if errors.Is(err, vfs.ErrFull) {
		if j.log.tail != nil { // the clean checkpoint still exists: nothing may be written after it
			j.log.tail, last.Over = nil, true
		}
		return nil
	}
	return err
}

// tidy deletes or reuses files outside the log, and rewrites damaged headers of segments. Damaged files were copied
// before.
func (j *Journal) tidy(r *recovery.Recovery) error {
	for _, d := range r.Damages {
		if !r.Kept[d.File] {
			continue
		}
		if _, ok := recovery.Numbered(d.File, "checkpoint-", ""); ok {
			r.Leftovers = append(r.Leftovers, filepath.Join(j.dir, d.File))
		}
		if seq, ok := recovery.Numbered(d.File, "", ".segment"); ok && d.Offset < 2*format.HeaderSize {
			if err := j.heal(r, seq); err != nil {
				return err
			}
		}
	}
	for _, path := range r.Leftovers {
		if err := j.fs.Remove(path); err != nil {
			return err
		}
	}
	for _, path := range r.Spares {
		size, err := j.fs.Stat(path)
		if err != nil {
			return err
		}
		if err := j.stock.Put(path, size, nil); err != nil {
			return err
		}
	}
	return j.fs.SyncDir(j.dir)
}

// heal rewrites the header of a segment. A segment without a known seed is useless.
func (j *Journal) heal(r *recovery.Recovery, seq uint64) error {
	known := r.Known[seq]
	if known == nil {
		r.Leftovers = append(r.Leftovers, j.table.path(seq))
		return nil
	}
	s, err := j.table.pin(seq)
	if err != nil {
		return err
	}
	defer j.table.unpin(s)
	salt := uint64(s.Seed ^ format.SeedOf(seq, 0))
	if _, err := s.File.WriteAt(format.EncodeHeader(seq, salt, s.Size), 0); err != nil {
		return err
	}
	return s.File.Sync()
}

// start starts all goroutines except the keeper.
func (j *Journal) start() {
	j.workers.Add(3)
	go j.assist()
	go j.early.run()
	go func() {
		defer j.workers.Done()
		j.stock.Run(j.options.Retry)
	}()
	go j.run()
}

func (j *Journal) startKeeper() {
	j.keep.workers.Add(1)
	go j.keepUp()
	wake(j.keep.kick)
}
