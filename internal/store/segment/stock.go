package segment

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/store/vfs"
)

// spare is a file with room for a segment.
type spare struct {
	name string // with its folder
	size int64
	file vfs.File
}

// stock keeps spare files, so that the log never waits for one to be made, unless
// the disk is full.
type stock struct {
	fs   vfs.FS
	dir  string
	size int64 // of an ordinary segment
	// small is the size of the file that is kept for moves.
	small int64
	stop  chan struct{}
	wake  chan struct{} // capacity 1
	told  func(bool)    // the disk is full, or no more
	got   func()        // a file came, or will not come
	fail  func(error)   // the disk can do no more

	// short: there was no room for the last file. closing: the journal is being
	// closed, so it is tried once more. hopeless: it was, and there is none.
	short, closing, hopeless atomic.Bool

	mu     sync.Mutex
	files  []spare
	wanted int64 // bytes of a longer one
	number int   // of the next name
	keep   int   // how many are worth keeping
	closed bool
}

// run makes files as they are wanted, until stop is closed.
func (s *stock) run(retry time.Duration) {
	for {
		size := s.missing()
		if size == 0 {
			if s.short.CompareAndSwap(true, false) {
				s.told(false)
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
			s.add(f)
			s.got()
			continue
		}
		if !errors.Is(err, vfs.ErrFull) {
			s.fail(fmt.Errorf("journal: %w", err))
			return
		}
		if s.short.CompareAndSwap(false, true) {
			s.told(true)
		}
		if s.closing.Load() {
			s.hopeless.Store(true)
			s.got()
		}
		select {
		case <-time.After(retry):
		case <-s.wake:
		case <-s.stop:
			return
		}
	}
}

// missing is the size of the file that is to be made next, 0 for none: there is to be
// one of the wanted length, and besides it the one that is kept for moves.
func (s *stock) missing() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.count(s.small) < 1:
		return s.small
	case s.count(max(s.wanted, s.size)) < 1:
		return max(s.wanted, s.size)
	case s.count(s.small) < 2:
		return s.small
	}
	return 0
}

// count tells how many files have so many bytes. The stock is locked.
func (s *stock) count(size int64) (n int) {
	for _, f := range s.files {
		if f.size >= size {
			n++
		}
	}
	return n
}

// has tells whether there are so many files, one of which has a size.
func (s *stock) has(size int64, files int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(size) > 0 && len(s.files) >= files
}

// want asks for a file of a size, until one is taken.
func (s *stock) want(size int64) {
	s.mu.Lock()
	news := size > s.wanted
	s.wanted = max(s.wanted, size)
	s.mu.Unlock()
	if news {
		wake(s.wake)
	}
}

// create makes a file, and leaves some room for checkpoints, which can free others.
func (s *stock) create(size int64) (spare, error) {
	if free, err := s.fs.Free(s.dir); err == nil && free < uint64(size+size/16) {
		return spare{}, fmt.Errorf("%w: %d bytes are free", vfs.ErrFull, free)
	}
	s.mu.Lock()
	name := s.nextName()
	s.mu.Unlock()
	f, err := s.fs.Create(name, size)
	return spare{name, size, f}, err
}

func (s *stock) nextName() string {
	s.number++
	return filepath.Join(s.dir, fmt.Sprintf("spare-%010d", s.number))
}

func (s *stock) add(f spare) {
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
}

// take gives a file of at least so many bytes away, the shortest that will do.
func (s *stock) take(size int64) (f spare, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, f := range s.files {
		if f.size >= size && (best < 0 || f.size < s.files[best].size) {
			best = i
		}
	}
	if best < 0 {
		s.wanted = max(s.wanted, size)
	} else {
		if f = s.files[best]; f.size >= s.wanted {
			s.wanted = 0
		}
		s.files = append(s.files[:best], s.files[best+1:]...)
	}
	wake(s.wake)
	return f, best >= 0
}

// put takes the file of a segment that is empty, or deletes it if there are enough.
func (s *stock) put(from string, size int64, file vfs.File) error {
	s.mu.Lock()
	name := s.nextName()
	enough := s.closed || len(s.files) >= max(s.keep, 2) && s.count(s.size) > 0
	if size != s.size {
		enough = s.closed || size != s.small || s.count(s.small) > 1
	}
	s.mu.Unlock()
	if enough {
		if file != nil {
			_ = file.Close()
		}
		return s.fs.Remove(from)
	}
	if err := errors.Join(s.fs.Rename(from, name), s.fs.SyncDir(s.dir)); err != nil {
		return err
	}
	if file == nil {
		var err error
		if file, err = s.fs.Open(name); err != nil {
			return err
		}
	}
	s.add(spare{name, size, file})
	s.got()
	return nil
}

// trim deletes files beyond those that are worth keeping.
func (s *stock) trim(keep int) error {
	s.mu.Lock()
	s.keep = keep
	var surplus []spare
	n := max(keep, 2) + 1 // a longer one may be wanted
	if len(s.files) > n {
		surplus = append(surplus, s.files[n:]...)
		s.files = s.files[:n]
	}
	s.mu.Unlock()
	wake(s.wake) // the longer one may have been among them
	var errs []error
	for _, f := range surplus {
		errs = append(errs, f.file.Close(), s.fs.Remove(f.name))
	}
	return errors.Join(errs...)
}

func (s *stock) bytes() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		n += f.size
	}
	return n
}

func (s *stock) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, f := range s.files {
		_ = f.file.Close()
	}
	s.files = nil
}
