package spare

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/storage/store/vfs"
)

// File has room for a segment.
type File struct {
	Name string // with its folder
	Size int64  // bytes
	File vfs.File
}

// Config configures a stock.
type Config struct {
	FS  vfs.FS
	Dir string
	// Size is the size of an ordinary segment, Small the size of the file kept for moves, bytes.
	Size, Small int64
	// Number is the highest number in the name of an existing file.
	Number int
	// Full is called when the disk becomes full, or no longer is; Got when a file was made or cannot be; Fail when the
	// disk has failed.
	Full func(bool)
	Got  func()
	Fail func(error)
}

// Stock keeps spare files, so that the log waits for a new file only when the disk is full. Its methods may be called
// from any goroutine.
type Stock struct {
	cfg  Config
	stop chan struct{}
	wake chan struct{} // capacity 1

	// short: there is no room for a file, or in one (lacking). closing: the journal is being closed, so Run tries once
	// more. failed: that try failed.
	short, lacking, closing, failed atomic.Bool

	mu     sync.Mutex
	files  []File
	wanted int64 // bytes of the longer file asked for
	number int   // in the next name
	keep   int   // number of files worth keeping
	closed bool
}

// New returns an empty stock; Run makes its files.
func New(cfg Config) *Stock {
	return &Stock{cfg: cfg, stop: make(chan struct{}), wake: make(chan struct{}, 1), number: cfg.Number}
}

// Short reports whether there was no room for the last file, or in a file.
func (s *Stock) Short() bool { return s.short.Load() }

// Lacks sets whether the disk lacks room for writes into a file, although the room was reserved: this happens on file
// systems that copy on write (DUR-4). While the disk lacks room, it counts as full.
func (s *Stock) Lacks(room bool) {
	if s.lacking.Swap(room) != room {
		s.look()
	}
}

// Small returns the size of the file kept for moves, bytes.
func (s *Stock) Small() int64 { return s.cfg.Small }

// LastTry makes Run try once more because the journal is being closed; if there is still no room, Failed reports it.
func (s *Stock) LastTry() {
	s.closing.Store(true)
	s.look()
}

// Failed reports whether the last try has failed.
func (s *Stock) Failed() bool { return s.failed.Load() }

// Stop ends Run.
func (s *Stock) Stop() { close(s.stop) }

// look makes Run check for missing files.
func (s *Stock) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run makes files as they are wanted, until Stop. It tries a full disk again after retry.
func (s *Stock) Run(retry time.Duration) {
	for {
		size := s.missing()
		if size == 0 {
			if lacking := s.lacking.Load(); s.short.CompareAndSwap(!lacking, lacking) {
				s.cfg.Full(lacking)
			}
			select {
			case <-s.wake:
			case <-s.stop:
				return
			}
			continue
		}
		f, err := s.create(size)
		if err == nil {
			s.Add(f)
			s.cfg.Got()
			continue
		}
		if !errors.Is(err, vfs.ErrFull) {
			s.cfg.Fail(fmt.Errorf("journal: %w", err))
			return
		}
		if s.short.CompareAndSwap(false, true) {
			s.cfg.Full(true)
		}
		if s.closing.Load() {
			s.failed.Store(true)
			s.cfg.Got()
		}
		select {
		case <-time.After(retry):
		case <-s.wake:
		case <-s.stop:
			return
		}
	}
}

// missing returns the size of the next file to make, 0 for none: there should be one of the wanted length, and another
// kept for moves.
func (s *Stock) missing() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.count(s.cfg.Small) < 1:
		return s.cfg.Small
	case s.count(max(s.wanted, s.cfg.Size)) < 1:
		return max(s.wanted, s.cfg.Size)
	case s.count(s.cfg.Small) < 2:
		return s.cfg.Small
	}
	return 0
}

// count returns the number of files of at least a size. The stock is locked.
func (s *Stock) count(size int64) (n int) {
	for _, f := range s.files {
		if f.Size >= size {
			n++
		}
	}
	return n
}

// Has reports whether there are that many files, one of them of at least that size.
func (s *Stock) Has(size int64, files int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(size) > 0 && len(s.files) >= files
}

// Want asks for a file of a size, until one is taken.
func (s *Stock) Want(size int64) {
	s.mu.Lock()
	news := size > s.wanted
	s.wanted = max(s.wanted, size)
	s.mu.Unlock()
	if news {
		s.look()
	}
}

// create makes a file if the disk then still has room for checkpoints, which can free other files.
func (s *Stock) create(size int64) (File, error) {
	if free, err := s.cfg.FS.Free(s.cfg.Dir); err == nil && free < uint64(size+size/16) {
		return File{}, fmt.Errorf("%w: %d bytes are free", vfs.ErrFull, free)
	}
	s.mu.Lock()
	name := s.nextName()
	s.mu.Unlock()
	f, err := s.cfg.FS.Create(name, size)
	return File{name, size, f}, err
}

func (s *Stock) nextName() string {
	s.number++
	return filepath.Join(s.cfg.Dir, fmt.Sprintf("spare-%010d", s.number))
}

// Add adds a file.
func (s *Stock) Add(f File) {
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
}

// Take removes and returns the shortest file of at least size bytes.
func (s *Stock) Take(size int64) (f File, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, f := range s.files {
		if f.Size >= size && (best < 0 || f.Size < s.files[best].Size) {
			best = i
		}
	}
	if best < 0 {
		s.wanted = max(s.wanted, size)
	} else {
		if f = s.files[best]; f.Size >= s.wanted {
			s.wanted = 0
		}
		s.files = append(s.files[:best], s.files[best+1:]...)
	}
	s.look()
	return f, best >= 0
}

// Put takes the file of a segment that is empty, or deletes it if there are enough.
func (s *Stock) Put(from string, size int64, file vfs.File) error {
	s.mu.Lock()
	name := s.nextName()
	enough := s.closed || len(s.files) >= max(s.keep, 2) && s.count(s.cfg.Size) > 0
	if size != s.cfg.Size {
		enough = s.closed || size != s.cfg.Small || s.count(s.cfg.Small) > 1
	}
	s.mu.Unlock()
	if enough {
		if file != nil {
			_ = file.Close()
		}
		return s.cfg.FS.Remove(from)
	}
	err := s.cfg.FS.Rename(from, name)
	if err == nil {
		from, err = name, s.cfg.FS.SyncDir(s.cfg.Dir)
	}
	if errors.Is(err, vfs.ErrFull) { // it must not be used before its name is durable
		if file != nil {
			_ = file.Close()
		}
		return s.cfg.FS.Remove(from)
	}
	if err != nil {
		return err
	}
	if file == nil {
		if file, err = s.cfg.FS.Open(name); err != nil {
			return err
		}
	}
	s.Add(File{name, size, file})
	s.cfg.Got()
	return nil
}

// Trim deletes files beyond the number worth keeping.
func (s *Stock) Trim(keep int) error {
	s.mu.Lock()
	s.keep = keep
	var surplus []File
	n := max(keep, 2) + 1 // a longer file may be wanted
	if len(s.files) > n {
		surplus = append(surplus, s.files[n:]...)
		s.files = s.files[:n]
	}
	s.mu.Unlock()
	s.look() // the longer file may have been among them
	var errs []error
	for _, f := range surplus {
		errs = append(errs, f.File.Close(), s.cfg.FS.Remove(f.Name))
	}
	return errors.Join(errs...)
}

// Bytes returns the total size of all files.
func (s *Stock) Bytes() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		n += f.Size
	}
	return n
}

// Close closes the files; files put from now on are deleted.
func (s *Stock) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, f := range s.files {
		_ = f.File.Close()
	}
	s.files = nil
}
