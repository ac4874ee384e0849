package raftlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"sync"

	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// Votes implements raft.StableStore: the term and the votes of a node.
type Votes struct {
	mu    sync.Mutex
	file  vfs.File
	saved saved
	err   error
}

var _ raft.StableStore = (*Votes)(nil)

// saved is the content of a page, as JSON behind its length and its sum.
type saved struct {
	Number uint64
	Bytes  map[string][]byte
	Values map[string]uint64
}

const voteName = "vote"

// errNotFound has the text that raft expects of a key that was never set.
var errNotFound = errors.New("not found")

// OpenVotes opens the votes in the folder of the log, and creates them if missing. Errors: ErrDamaged, or errors of the disk.
func OpenVotes(fs vfs.FS, dir string) (*Votes, error) {
	if err := fs.MakeDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, voteName)
	v := &Votes{saved: saved{Bytes: map[string][]byte{}, Values: map[string]uint64{}}}
	var err error
	if v.file, err = fs.Open(path); isMissing(err) {
		return v, v.create(fs, dir, path)
	}
	if err != nil {
		return nil, err
	}
	for page := range int64(2) {
		if s, ok := v.page(page); ok && s.Number > v.saved.Number {
			v.saved = s
		}
	}
	if v.saved.Number == 0 {
		return nil, errors.Join(fmt.Errorf("%w: the votes in %s", ErrDamaged, path), v.file.Close())
	}
	return v, v.save() // both pages are the same again
}

// create makes a file with the empty state, which gets its name when it is complete.
func (v *Votes) create(fs vfs.FS, dir, path string) (err error) {
	if err := fs.Remove(path + ".new"); err != nil && !isMissing(err) {
		return err
	}
	if v.file, err = fs.Create(path+".new", 2*pageSize); err != nil {
		return err
	}
	return errors.Join(v.save(), fs.Rename(path+".new", path), fs.SyncDir(dir))
}

func (v *Votes) page(page int64) (s saved, ok bool) {
	b := make([]byte, pageSize)
	if _, err := v.file.ReadAt(b, page*pageSize); err != nil && !errors.Is(err, io.EOF) {
		return s, false
	}
	n := little.Uint32(b[4:])
	if n > pageSize-8 || little.Uint32(b) != crc32.Checksum(b[4:8+n], castagnoli) {
		return s, false
	}
	ok = json.Unmarshal(b[8:8+n], &s) == nil
	if s.Bytes == nil {
		s.Bytes = map[string][]byte{}
	}
	if s.Values == nil {
		s.Values = map[string]uint64{}
	}
	return s, ok
}

// save writes both pages.
func (v *Votes) save() error {
	if v.err != nil {
		return v.err
	}
	v.saved.Number++
	text, err := json.Marshal(v.saved)
	if err == nil && len(text) > pageSize-8 {
		err = errors.New("the votes are too long")
	}
	b := make([]byte, pageSize)
	copy(b[8:], text)
	little.PutUint32(b[4:], uint32(len(text)))
	little.PutUint32(b, crc32.Checksum(b[4:8+len(text)], castagnoli))
	for page := int64(0); page < 2 && err == nil; page++ {
		if _, err = v.file.WriteAt(b, page*pageSize); err == nil {
			err = v.file.Sync()
		}
	}
	v.err = err
	return err
}

// Set implements raft.StableStore.
func (v *Votes) Set(key, value []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.saved.Bytes[string(key)] = value
	return v.save()
}

// Get implements raft.StableStore.
func (v *Votes) Get(key []byte) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, ok := v.saved.Bytes[string(key)]
	if !ok {
		return nil, errNotFound
	}
	return value, nil
}

// SetUint64 implements raft.StableStore.
func (v *Votes) SetUint64(key []byte, value uint64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.saved.Values[string(key)] = value
	return v.save()
}

// GetUint64 implements raft.StableStore.
func (v *Votes) GetUint64(key []byte) (uint64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, ok := v.saved.Values[string(key)]
	if !ok {
		return 0, errNotFound
	}
	return value, nil
}

// Close closes the file.
func (v *Votes) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = errors.New("the votes are closed")
	return v.file.Close()
}
