package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Create implements FS.
func (m *Memory) Create(name string, size int64) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Create, Name: name, Length: int(size)}); f != nil {
		return nil, f.Err
	}
	if _, err := m.find("create", filepath.Dir(name), true); err != nil {
		return nil, err
	}
	if m.names[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if err := m.room(size); err != nil {
		return nil, err
	}
	n := newNode(false)
	n.size = size
	m.names[name] = n
	m.changes = append(m.changes, change{kind: Create, name: name, node: n})
	return &memoryFile{m, n, name, m.epoch, true}, nil
}

// Open implements FS.
func (m *Memory) Open(name string) (File, error) { return m.open(name, true) }

// OpenRead implements FS.
func (m *Memory) OpenRead(name string) (File, error) { return m.open(name, false) }

func (m *Memory) open(name string, writable bool) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Read, Name: name}); f != nil {
		return nil, f.Err
	}
	n, err := m.find("open", name, false)
	if err != nil {
		return nil, err
	}
	return &memoryFile{m, n, name, m.epoch, writable}, nil
}

// Rename implements FS.
func (m *Memory) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Rename, Name: from}); f != nil {
		return f.Err
	}
	n, err := m.find("rename", from, false)
	if err != nil {
		return err
	}
	if filepath.Dir(from) != filepath.Dir(to) || m.names[to] != nil && m.names[to].folder {
		return fmt.Errorf("rename %s: to another folder", from)
	}
	delete(m.names, from)
	m.names[to] = n
	m.changes = append(m.changes, change{kind: Rename, name: from, to: to, node: n})
	return nil
}

// Remove implements FS.
func (m *Memory) Remove(name string) error {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Remove, Name: name}); f != nil {
		return f.Err
	}
	n, err := m.find("remove", name, false)
	if err != nil {
		return err
	}
	delete(m.names, name)
	m.changes = append(m.changes, change{kind: Remove, name: name, node: n})
	return nil
}

// List implements FS.
func (m *Memory) List(dir string) ([]string, error) {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Read, Name: dir}); f != nil {
		return nil, f.Err
	}
	if _, err := m.find("list", dir, true); err != nil {
		return nil, err
	}
	var names []string
	for name := range m.names {
		if filepath.Dir(name) == dir && name != dir {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// MakeDir implements FS.
func (m *Memory) MakeDir(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: MakeDir, Name: dir}); f != nil {
		return f.Err
	}
	var fresh []string
	for ; !m.isRoot(dir) && m.names[dir] == nil; dir = filepath.Dir(dir) {
		fresh = append(fresh, dir)
	}
	if n := m.names[dir]; n != nil && !n.folder {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("not a folder")}
	}
	for _, name := range slices.Backward(fresh) {
		n := newNode(true)
		m.names[name], m.durable[name] = n, n
	}
	return nil
}

// SyncDir implements FS.
func (m *Memory) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: SyncDir, Name: dir}); f != nil {
		return f.Err
	}
	if _, err := m.find("sync", dir, true); err != nil {
		return err
	}
	m.changes = slices.DeleteFunc(m.changes, func(c change) bool {
		here := filepath.Dir(c.name) == dir
		if here {
			m.keep(c)
		}
		return here
	})
	return nil
}

// Stat implements FS.
func (m *Memory) Stat(name string) (int64, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Read, Name: name}); f != nil {
		return 0, f.Err
	}
	n, err := m.find("stat", name, false)
	if err != nil {
		return 0, err
	}
	return n.size, nil
}

// Free implements FS.
func (m *Memory) Free(string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.before(Operation{Kind: Read}); f != nil {
		return 0, f.Err
	}
	return m.free(), nil
}
