package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
)

// memoryFile is an open file. A crash makes it unusable.
type memoryFile struct {
	m        *Memory
	node     *node
	name     string
	epoch    int
	writable bool
}

// lock takes the lock of the file system for an operation, which it counts. The caller must unlock in every case.
func (f *memoryFile) lock(o Operation) *Fault {
	f.m.mu.Lock()
	if f.epoch != f.m.epoch {
		return &Fault{Err: ErrCrashed}
	}
	o.Name = f.name
	return f.m.before(o)
}

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	fault := f.lock(Operation{Kind: Read, At: at, Length: len(b)})
	defer f.m.mu.Unlock()
	if fault != nil {
		return 0, fault.Err
	}
	n := int(max(0, min(int64(len(b)), f.node.size-at)))
	f.node.read(b[:n], at)
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	fault := f.lock(Operation{Kind: Write, At: at, Length: len(b)})
	defer f.m.mu.Unlock()
	if !f.writable {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrPermission}
	}
	if fault != nil {
		n := min(fault.Written, len(b))
		f.node.write(b[:n], at)
		return n, fault.Err
	}
	if err := f.m.room(at + int64(len(b)) - f.node.size); err != nil {
		return 0, err
	}
	f.node.write(b, at)
	return len(b), nil
}

func (f *memoryFile) Sync() error {
	fault := f.lock(Operation{Kind: Sync})
	defer f.m.mu.Unlock()
	if fault != nil {
		if f.epoch == f.m.epoch && !f.m.frozen {
			f.node.syncFailed(f.m.random)
		}
		return fmt.Errorf("sync %s: %w", f.name, fault.Err)
	}
	f.node.sync()
	return nil
}

func (f *memoryFile) Close() error { return nil }

// Written returns the ranges of a file that were written since it was created, in order; a Rename does not change that.
func (m *Memory) Written(name string) []Extent {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("written", filepath.Clean(name), false)
	if err != nil {
		return nil
	}
	return slices.Clone(n.written)
}

// Flip inverts a bit (0 to 7) of a byte, as a failing disk may. It reports whether the file exists.
func (m *Memory) Flip(name string, at int64, bit int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("flip", filepath.Clean(name), false)
	if err != nil || at >= n.size {
		return false
	}
	b := make([]byte, 1)
	n.read(b, at)
	b[0] ^= 1 << bit
	put(n.pages, n.durable, b, at)
	put(n.durable, n.pages, b, at)
	return true
}
