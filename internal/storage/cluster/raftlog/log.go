package raftlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/storage/cluster/pace"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// Folder is the name of the folder in the data folder of a node.
const Folder = "raft"

const (
	defaultSize = 64 << 20 // of a file, bytes
	cached      = 16 << 20 // bytes of data of the last entries that are kept in memory
	spareName   = "spare.log"
)

// Options of a Log.
type Options struct {
	Size int64 // of a file in bytes, 64 MiB by default
	Kept int64 // bytes of entries that stay, when a snapshot has them, for lagging nodes
	// OnFailure is called once, from a goroutine of its own, when nothing more can be stored.
	OnFailure func(error)
}

// ErrDamaged: what is stored differs from what was written.
var ErrDamaged = errors.New("the log of the cluster is damaged")

// Log implements raft.LogStore. It is safe for concurrent use; one goroutine at a time stores and deletes.
type Log struct {
	fs   vfs.FS
	dir  string
	size int64
	kept int

	onFailure func(error)

	disk   sync.Mutex // held while files begin and end, and locked before mu
	mu     sync.RWMutex
	files  []*file // the last one is written to
	spare  vfs.File
	first  uint64  // index of places[0]
	places []place // of all entries
	recent []*raft.Log
	bytes  int    // of the data in recent
	total  uint64 // bytes stored since Open
	number uint64
	err    error
	cut    bool // entries were removed at the end, and none was stored since
	buf    []byte

	needed atomic.Uint64 // entries from this one on stay, too, up to most bytes
	most   atomic.Int64
	tail   atomic.Pointer[[2]uint64]
	pace   pace.Meter
	began  atomic.Int64 // when the write that is under way began, ns since 1970; 0 for none
}

var (
	_ raft.LogStore          = (*Log)(nil)
	_ raft.MonotonicLogStore = (*Log)(nil)
)

type file struct {
	vfs.File
	number uint64
	seed   uint32
	name   string
	size   int64
	end    int64 // where the next group begins
}

// place is where an entry is.
type place struct {
	file   *file
	at     int64
	length int // with its head
	term   uint64
}

// IsMonotonic implements raft.MonotonicLogStore: after a snapshot the log begins anew.
func (l *Log) IsMonotonic() bool { return true }

// FirstIndex implements raft.LogStore.
func (l *Log) FirstIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.places) == 0 {
		return 0, nil
	}
	return l.first, nil
}

// LastIndex implements raft.LogStore.
func (l *Log) LastIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.last(), nil
}

// Last returns the term and the index of the last entry, 0 for none. It never waits for the disk.
func (l *Log) Last() (term, index uint64) {
	if t := l.tail.Load(); t != nil {
		return t[0], t[1]
	}
	return 0, 0
}

// note makes Last return the end of the log. The log is locked.
func (l *Log) note() {
	if n := len(l.places); n > 0 {
		l.tail.Store(&[2]uint64{l.places[n-1].term, l.last()})
		return
	}
	l.tail.Store(nil)
}

// last returns the index of the last entry, 0 for none.
func (l *Log) last() uint64 {
	if len(l.places) == 0 {
		return 0
	}
	return l.first + uint64(len(l.places)) - 1
}

// GetLog implements raft.LogStore. Errors: raft.ErrLogNotFound, ErrDamaged or an error of the disk.
func (l *Log) GetLog(index uint64, to *raft.Log) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	last := l.last()
	if index < l.first || index > last {
		return raft.ErrLogNotFound
	}
	if behind := last - index; behind < uint64(len(l.recent)) {
		*to = *l.recent[uint64(len(l.recent))-1-behind]
		return nil
	}
	p := l.places[index-l.first]
	b := make([]byte, p.length)
	if _, err := p.file.ReadAt(b, p.at); err != nil {
		return fmt.Errorf("%s: %w", p.file.name, err)
	}
	e, _, ok := decodeEntry(b, p.file.seed, p.at)
	if !ok || e.Index != index {
		return fmt.Errorf("%w: entry %d, %s at %d", ErrDamaged, index, p.file.name, p.at)
	}
	*to = e
	return nil
}

// StoreLog implements raft.LogStore.
func (l *Log) StoreLog(one *raft.Log) error { return l.StoreLogs([]*raft.Log{one}) }

// StoreLogs implements raft.LogStore. An error of the disk is the error of all later calls, except for a full disk, after which the entries can be sent
// again; but not if entries were replaced, as raft then takes those for the end of the log.
func (l *Log) StoreLogs(list []*raft.Log) error {
	if len(list) == 0 {
		return nil
	}
	l.mu.RLock()
	err, last, f, number := l.err, l.last(), l.files[len(l.files)-1], l.number
	l.mu.RUnlock()
	if err != nil {
		return err
	}
	for i, e := range list {
		if i > 0 && e.Index != list[i-1].Index+1 || i == 0 && last > 0 && e.Index != last+1 {
			return fmt.Errorf("entry %d does not follow entry %d", e.Index, max(last, list[0].Index))
		}
	}
	size := groupSize(list)
	l.began.Store(time.Now().UnixNano() + size*int64(time.Second)/slowDisk)
	defer l.began.Store(0)
	if f.end+size > f.size && f.end > pageSize {
		if f, err = l.next(size); errors.Is(err, vfs.ErrFull) && !l.cut {
			return err
		} else if err != nil {
			return l.fail(err)
		}
	}
	at := f.end
	l.buf = appendGroup(l.buf[:0], f.seed, at, number, list)
	for len(l.buf)%pageSize != 0 {
		l.buf = append(l.buf, zeros[:pageSize-len(l.buf)%pageSize]...)
	}
	if err := l.write(f, at); err != nil {
		return l.fail(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f.end += int64(len(l.buf))
	l.total += uint64(len(l.buf))
	if cap(l.buf) > 8<<20 {
		l.buf = nil
	}
	l.cut = false
	l.number++
	if len(l.places) == 0 {
		l.first = list[0].Index
	}
	at += groupHead
	for _, e := range list {
		n := entryHead + len(e.Data)
		l.places = append(l.places, place{f, at, n, e.Term})
		at += int64(n)
		l.recent = append(l.recent, e)
		l.bytes += len(e.Data)
	}
	l.trim()
	l.note()
	return nil
}

// write makes a group durable, and notes how long that took.
func (l *Log) write(f *file, at int64) error {
	begun := time.Now()
	if _, err := f.WriteAt(l.buf, at); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	l.pace.Add(time.Now(), time.Since(begun))
	return nil
}

var zeros [pageSize]byte

// trim drops entries from memory.
func (l *Log) trim() {
	n := 0
	for ; l.bytes > cached && n < len(l.recent)-1; n++ {
		l.bytes -= len(l.recent[n].Data)
		l.recent[n] = nil
	}
	l.recent = l.recent[n:]
}

func (l *Log) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("the log of the cluster: %w", err)
		if l.onFailure != nil {
			go l.onFailure(l.err)
		}
	}
	return l.err
}

// next begins the next file, which has room for a group of size bytes. Readers do not wait for it.
func (l *Log) next(size int64) (*file, error) {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	number, salt := uint64(1), rand.Uint64()
	if n := len(l.files); n > 0 {
		number = l.files[n-1].number + 1
	}
	f := &file{number: number, seed: seedOf(number, salt), name: fmt.Sprintf("%010d.log", number), size: max(l.size, roundUp(pageSize+size)), end: pageSize}
	if f.size == l.size {
		f.File, l.spare = l.spare, nil
	}
	l.mu.Unlock()
	path, spare := filepath.Join(l.dir, f.name), filepath.Join(l.dir, spareName)
	var err error
	if f.File == nil {
		spare = filepath.Join(l.dir, "new.log")
		if err := l.fs.Remove(spare); err != nil && !isMissing(err) {
			return nil, err
		}
		if f.File, err = l.fs.Create(spare, f.size); err != nil {
			return nil, err
		}
	}
	if _, err := f.WriteAt(encodeHeader(number, salt), 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), l.fs.Rename(spare, path), l.fs.SyncDir(l.dir)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.mu.Lock()
	l.files = append(l.files, f)
	l.mu.Unlock()
	return f, nil
}

// DeleteRange implements raft.LogStore, for a range at the beginning or at the end of the log. Entries at the end may be there again
// after a restart, until others replace them: they were never committed.
func (l *Log) DeleteRange(low, high uint64) error {
	l.disk.Lock()
	defer l.disk.Unlock()
	if err := l.remove(low, high); err != nil {
		return err
	}
	return l.recycle()
}

// remove removes entries from memory.
func (l *Log) remove(low, high uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last()
	switch {
	case len(l.places) == 0 || high < l.first || low > last:
	case low > l.first && high < last:
		return fmt.Errorf("entries %d to %d are in the middle of the log", low, high)
	case low > l.first:
		l.places, l.cut = l.places[:low-l.first], true
		l.forget(last - low + 1)
	case high >= last:
		l.places, l.recent, l.bytes, l.first = nil, nil, 0, 0
	default:
		if high = min(high, l.first+l.spareable()-1); high < l.first {
			return nil
		}
		l.places = append([]place(nil), l.places[high+1-l.first:]...)
		l.first = high + 1
		l.recent = l.recent[max(0, len(l.recent)-len(l.places)):]
		l.bytes = 0
		for _, e := range l.recent {
			l.bytes += len(e.Data)
		}
	}
	l.note()
	return nil
}

// Stored returns how many bytes were stored since Open.
func (l *Log) Stored() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.total
}

// slowDisk is how many bytes a second a disk writes at least that does not hang.
const slowDisk = 16 << 20

// Writing returns for how much longer than a slow disk takes the present write has been under way, 0 or less if it has not.
func (l *Log) Writing() time.Duration {
	if began := l.began.Load(); began > 0 {
		return time.Since(time.Unix(0, began))
	}
	return 0
}

// Pace returns how long writes of the last half minute took.
func (l *Log) Pace() pace.Sample { return l.pace.Sample(time.Now()) }

// Close closes the files.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = errors.New("the log is closed")
	}
	var err error
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	if l.spare != nil {
		err = errors.Join(err, l.spare.Close())
	}
	return err
}
