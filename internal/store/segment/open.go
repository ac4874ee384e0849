package segment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"candlemark/internal/store/vfs"
)

// Open opens the journal in a folder, which is made if it is not there, and reads
// what it holds. One process at a time may do so: the caller sees to that (the
// definitions are locked). The error is that of the file system; damage is no error
// but reported.
func Open(fs vfs.FS, dir string, o Options) (*Journal, Report, error) {
	j, report, err := load(fs, dir, o)
	if err != nil {
		return nil, Report{}, err
	}
	j.start()
	j.startKeeper()
	return j, report, nil
}

// load does all of Open but to start the goroutines.
func load(fs vfs.FS, dir string, o Options) (*Journal, Report, error) {
	start := time.Now()
	o.defaults(dir)
	if err := errors.Join(fs.MakeDir(dir), fs.SyncDir(filepath.Dir(dir))); err != nil {
		return nil, Report{}, fmt.Errorf("journal: %w", err)
	}
	f, err := look(fs, dir)
	if err != nil {
		return nil, Report{}, fmt.Errorf("journal: %w", err)
	}
	r, err := f.recover()
	if err != nil {
		return nil, Report{}, fmt.Errorf("journal: %w", err)
	}
	j := newJournal(fs, dir, o, r)
	if err := errors.Join(r.preserve(o.Quarantine), j.prepare(r)); err != nil {
		j.stock.close()
		j.table.close()
		return nil, Report{}, fmt.Errorf("journal: %w", err)
	}
	r.report.Duration = time.Since(start)
	return j, r.report, nil
}

func newJournal(fs vfs.FS, dir string, o Options, r *recovery) *Journal {
	j := &Journal{
		fs: fs, dir: dir, options: o, salt: rand.Uint64(), kick: make(chan struct{}, 1), help: make(chan struct{}, 1),
		table: newTable(fs, dir), ended: make(chan struct{}), readers: make(chan struct{}, maxReads),
	}
	j.keep.kick, j.keep.press, j.keep.stop = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	j.keep.pause, j.keep.spare = o.Settle, checkpointFile{fs: fs, dir: dir, size: r.spareCheckpoint}
	j.keep.numbers, j.keep.previous = r.checkpoints, r.begin
	j.stock = &stock{
		fs: fs, dir: dir, size: o.SegmentSize, small: smallOf(o.SegmentSize), stop: make(chan struct{}), wake: make(chan struct{}, 1),
		told: o.OnFull, fail: j.fail, number: r.highSpare,
		got: func() { wake(j.kick); wake(j.keep.kick) },
	}
	j.table.free = j.recycle
	j.recovered.messages = r.messages
	j.log.index, j.log.number, j.log.fresh = r.index, max(r.number, 1), r.fresh
	for id, q := range j.log.index.queues {
		if len(q.sets) == 0 {
			delete(j.log.index.queues, id)
		}
	}
	for _, s := range r.known {
		j.table.add(s)
	}
	j.log.batch = &batch{}
	return j
}

// prepare brings the folder into order before anything is written to the log: what
// was replayed is made to stay, and a checkpoint says so.
func (j *Journal) prepare(r *recovery) error {
	last := r.tail
	if r.clean {
		last = r.known[r.begin]
	}
	if last != nil {
		s, err := j.table.pin(last.seq)
		if err != nil {
			return err
		}
		err = s.file.Sync()
		j.table.unpin(s)
		if err != nil {
			return err
		}
	}
	if err := j.tidy(r); err != nil {
		return err
	}
	for _, d := range r.damages {
		if seq, ok := numbered(d.File, "", ".segment"); ok && r.known[seq] != nil && d.Offset >= 2*headerSize {
			r.known[seq].sick = true
		}
	}
	if r.clean && last != nil && !last.sick {
		last.over, last.end = false, r.offset
		j.log.tail = last
	}
	// There are two from now on, and with the spare one enough files for all that follow,
	// also when the disk is full.
	err := j.install(j.snapshot(false))
	if err == nil && len(j.keep.numbers) < 2 {
		err = j.install(j.snapshot(false))
	}
	if errors.Is(err, vfs.ErrFull) {
		if j.log.tail != nil { // the clean checkpoint is still there: nothing may be written behind it
			j.log.tail, last.over = nil, true
		}
		return nil
	}
	return err
}

// tidy deletes and reuses the files that are not part of the log, and gives damaged
// headers back to their segments. What is damaged was copied before.
func (j *Journal) tidy(r *recovery) error {
	for _, d := range r.damages {
		if !r.kept[d.File] {
			continue
		}
		if _, ok := numbered(d.File, "checkpoint-", ""); ok {
			r.leftovers = append(r.leftovers, filepath.Join(j.dir, d.File))
		}
		if seq, ok := numbered(d.File, "", ".segment"); ok && d.Offset < 2*headerSize {
			if err := j.heal(r, seq); err != nil {
				return err
			}
		}
	}
	for _, path := range r.leftovers {
		if err := j.fs.Remove(path); err != nil {
			return err
		}
	}
	for _, path := range r.spares {
		size, err := j.fs.Stat(path)
		if err != nil {
			return err
		}
		if err := j.stock.put(path, size, nil); err != nil {
			return err
		}
	}
	return j.fs.SyncDir(j.dir)
}

// heal writes the header of a segment again. One that nobody knows the seed of is
// of no use.
func (j *Journal) heal(r *recovery, seq uint64) error {
	known := r.known[seq]
	if known == nil {
		r.leftovers = append(r.leftovers, j.table.path(seq))
		return nil
	}
	s, err := j.table.pin(seq)
	if err != nil {
		return err
	}
	defer j.table.unpin(s)
	salt := uint64(s.seed ^ seedOf(seq, 0))
	if _, err := s.file.WriteAt(encodeHeader(seq, salt, s.size), 0); err != nil {
		return err
	}
	return s.file.Sync()
}

// start starts the goroutines but the keeper.
func (j *Journal) start() {
	j.workers.Add(2)
	go j.assist()
	go func() {
		defer j.workers.Done()
		j.stock.run(j.options.Retry)
	}()
	go j.run()
}

func (j *Journal) startKeeper() {
	j.keep.workers.Add(1)
	go j.keepUp()
	wake(j.keep.kick)
}
