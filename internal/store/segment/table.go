package segment

import (
	"fmt"
	"path/filepath"
	"sync"

	"candlemark/internal/store/vfs"
)

// segment is one file of the log.
type segment struct {
	seq  uint64
	seed uint32
	size int64

	// Under the log's lock.

	end  int64 // where the next batch goes
	live int   // messages
	// bytes that they have in it. A body that several have counts for the first of them.
	bytes int64
	over  bool // it is not the last one any more
	// spare is the name of its file until its first batch is written. The writer's.
	spare string
	// sick: something in it is damaged. stuck: something lives and cannot be read.
	sick, stuck bool

	// Under the table's lock.

	file vfs.File // nil while nobody has it open
	pins int      // who reads it
	gone bool
}

// count counts messages that came, or are gone.
func (s *segment) count(n int, bytes int64) {
	s.live += n
	s.bytes += bytes
}

// table finds the segments by number, opens them for reading, and lets go of them
// when nobody reads them any more.
type table struct {
	fs  vfs.FS
	dir string

	mu   sync.RWMutex
	all  map[uint64]*segment
	free func(*segment) // takes over a file that is not used any more
}

func newTable(fs vfs.FS, dir string) *table {
	return &table{fs: fs, dir: dir, all: map[uint64]*segment{}}
}

func segmentName(seq uint64) string { return fmt.Sprintf("%010d.segment", seq) }

func (t *table) path(seq uint64) string { return filepath.Join(t.dir, segmentName(seq)) }

func (t *table) add(s *segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[s.seq] = s
}

// remove takes a segment out that nobody reads.
func (t *table) remove(s *segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, s.seq)
}

// pin returns an open segment that stays until unpin; nil if it is gone.
func (t *table) pin(seq uint64) (*segment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[seq]
	if s == nil {
		return nil, nil
	}
	if s.file == nil {
		f, err := t.fs.Open(t.path(seq))
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	s.pins++
	return s, nil
}

func (t *table) unpin(s *segment) {
	t.mu.Lock()
	s.pins--
	last := s.gone && s.pins == 0
	t.mu.Unlock()
	if last {
		t.free(s)
	}
}

// discard takes a segment out; its file is free when nobody reads it any more.
func (t *table) discard(s *segment) {
	t.mu.Lock()
	delete(t.all, s.seq)
	s.gone = true
	last := s.pins == 0
	t.mu.Unlock()
	if last {
		t.free(s)
	}
}

// list returns all segments, in no order.
func (t *table) list() []*segment {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*segment, 0, len(t.all))
	for _, s := range t.all {
		list = append(list, s)
	}
	return list
}

// close closes all files.
func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.file != nil {
			_ = s.file.Close()
			s.file = nil
		}
	}
}
