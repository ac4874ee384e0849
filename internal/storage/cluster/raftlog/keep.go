package raftlog

import (
	"errors"
	"path/filepath"
)

// Need says from which entry on lagging nodes need the log; it keeps them up to a size in bytes.
func (l *Log) Need(index uint64, most int64) {
	l.needed.Store(index)
	l.most.Store(most)
}

// spareable returns how many entries at the beginning are not needed by lagging followers.
func (l *Log) spareable() uint64 {
	needed, most := l.needed.Load(), int(l.most.Load())
	n, size := len(l.places), 0
	for n > 0 && (size < l.kept || size < most && l.first+uint64(n)-1 >= needed) {
		n--
		size += l.extent(n)
	}
	return uint64(n)
}

// Behind returns how many bytes of the files the entries behind an index take.
func (l *Log) Behind(index uint64) (size uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for n := range l.places {
		if l.first+uint64(n) > index {
			size += uint64(l.extent(n))
		}
	}
	return size
}

// extent returns how many bytes of its file a place takes.
func (l *Log) extent(n int) int {
	p := l.places[n]
	if n+1 < len(l.places) && l.places[n+1].file == p.file {
		return int(l.places[n+1].at - p.at)
	}
	return int(p.file.end - p.at)
}

// forget drops the last n entries from memory.
func (l *Log) forget(n uint64) {
	keep := len(l.recent) - int(min(n, uint64(len(l.recent))))
	for _, e := range l.recent[keep:] {
		l.bytes -= len(e.Data)
	}
	l.recent = l.recent[:keep]
}

// recycle removes the files before the first entry; one of them is kept for later. Each removal is durable before the next one, so
// that no file is missing between others after a crash. The disk is locked.
func (l *Log) recycle() error {
	for {
		l.mu.Lock()
		if len(l.files) < 2 || len(l.places) > 0 && l.files[0] == l.places[0].file {
			l.mu.Unlock()
			return nil
		}
		f := l.files[0]
		l.files = l.files[1:]
		keep := l.spare == nil && f.size == l.size
		l.mu.Unlock()
		path, err := filepath.Join(l.dir, f.name), error(nil)
		if keep {
			err = l.fs.Rename(path, filepath.Join(l.dir, spareName))
		} else {
			err = errors.Join(f.Close(), l.fs.Remove(path))
		}
		l.mu.Lock()
		if keep {
			l.spare = f.File
		}
		l.mu.Unlock()
		if err = errors.Join(err, l.fs.SyncDir(l.dir)); err != nil {
			return err
		}
	}
}
