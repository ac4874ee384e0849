package segment

import (
	"path/filepath"
	"sync"

	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/vfs"
)

// table finds the segments by number, opens them for reading, and closes them after the last reader.
type table struct {
	fs  vfs.FS
	dir string

	mu   sync.RWMutex
	all  map[uint64]*index.Segment
	free func(*index.Segment) // takes over a file that is no longer used
}

func newTable(fs vfs.FS, dir string) *table {
	return &table{fs: fs, dir: dir, all: map[uint64]*index.Segment{}}
}

func (t *table) path(seq uint64) string { return filepath.Join(t.dir, index.SegmentName(seq)) }

func (t *table) add(s *index.Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[s.Seq] = s
}

// remove removes a segment without readers.
func (t *table) remove(s *index.Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, s.Seq)
}

// pin returns an open segment that stays until unpin; nil if it is gone.
func (t *table) pin(seq uint64) (*index.Segment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[seq]
	if s == nil {
		return nil, nil
	}
	if s.File == nil {
		f, err := t.fs.Open(t.path(seq))
		if err != nil {
			return nil, err
		}
		s.File = f
	}
	s.Pins++
	return s, nil
}

func (t *table) unpin(s *index.Segment) {
	t.mu.Lock()
	s.Pins--
	last := s.Gone && s.Pins == 0
	t.mu.Unlock()
	if last {
		t.free(s)
	}
}

// discard removes a segment; its file is free after its last reader.
func (t *table) discard(s *index.Segment) {
	t.mu.Lock()
	delete(t.all, s.Seq)
	s.Gone = true
	last := s.Pins == 0
	t.mu.Unlock()
	if last {
		t.free(s)
	}
}

// list returns all segments, in no order.
func (t *table) list() []*index.Segment {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*index.Segment, 0, len(t.all))
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
		if s.File != nil {
			_ = s.File.Close()
			s.File = nil
		}
	}
}
