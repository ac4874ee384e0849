package progress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// Name is the name of the file in the journal's folder.
const Name = "progress"

// Mark states how far a log was written.
type Mark struct {
	// Journal is the identity of the journal, random and not 0.
	Journal uint64
	// Newest is the highest number of a segment that has its name.
	Newest uint64
	// Segment holds the batch numbered Batch, which is durable and ends at offset End. First is the number of the first
	// batch in that segment, and Records how many records the batches from First to Batch have. All are 0 before the
	// first batch. Of a journal of an older version First is the first batch that this version has written.
	Segment, First, Batch uint64
	End                   int64
	Records               uint64
	// Checkpoint is the number of a complete checkpoint, 0 for none.
	Checkpoint uint64
}

// The file has two slots, each with a mark, numbers little endian. The mark with the higher count is the newer one, and
// the next one is written to the other slot:
//
//	| magic 8 | count 8 | journal 8 | newest 8 | segment 8 | first 8 | batch 8 | end 8 | records 8 | checkpoint 8 | sum 4 |
const (
	magic    = "CmProgr1"
	fields   = 9
	markSize = 8 + 8*fields + 4
	slotSize = format.PageSize
	fileSize = 2 * slotSize
)

var little = binary.LittleEndian

// encode returns a mark as it is stored.
func (m Mark) encode(count uint64) []byte {
	b := append(make([]byte, 0, markSize), magic...)
	for _, field := range [fields]uint64{count, m.Journal, m.Newest, m.Segment, m.First, m.Batch, uint64(m.End), m.Records, m.Checkpoint} {
		b = little.AppendUint64(b, field)
	}
	return little.AppendUint32(b, crc32.Checksum(b, format.Castagnoli))
}

// decode decodes the contents of a slot; the count is 0 if there is no mark.
func decode(b []byte) (m Mark, count uint64) {
	if len(b) < markSize || string(b[:8]) != magic || little.Uint32(b[markSize-4:]) != crc32.Checksum(b[:markSize-4], format.Castagnoli) {
		return Mark{}, 0
	}
	at := func(i int) uint64 { return little.Uint64(b[8+8*i:]) }
	return Mark{
		Journal: at(1), Newest: at(2), Segment: at(3), First: at(4), Batch: at(5), End: int64(at(6)), Records: at(7), Checkpoint: at(8),
	}, at(0)
}

// Contents returns a file with a mark.
func Contents(m Mark) []byte { return append(m.encode(1), make([]byte, fileSize-markSize)...) }

// ErrDamaged: the file has no mark that was written.
var ErrDamaged = errors.New("the file is damaged")

// Read returns the mark in a journal's folder. Errors: fs.ErrNotExist, ErrDamaged, or errors of the disk.
func Read(files vfs.FS, dir string) (Mark, error) {
	m, _, err := read(files, filepath.Join(dir, Name))
	return m, err
}

func read(files vfs.FS, path string) (m Mark, count uint64, err error) {
	f, err := files.OpenRead(path)
	if err != nil {
		return Mark{}, 0, err
	}
	defer func() { _ = f.Close() }()
	for slot := range int64(2) {
		b := make([]byte, markSize)
		if _, err := f.ReadAt(b, slot*slotSize); err != nil && !errors.Is(err, io.EOF) {
			return Mark{}, 0, err
		}
		if one, n := decode(b); n > count {
			m, count = one, n
		}
	}
	if count == 0 {
		return Mark{}, 0, ErrDamaged
	}
	return m, count, nil
}

// File is the file of a journal that is open. Its methods may be called from several goroutines.
type File struct {
	fs   vfs.FS
	dir  string
	fail func(error)
	mu   sync.Mutex
	now  Mark
	file vfs.File // nil until there was room for it
	// count is the count of the newest mark in the file; behind: the file lacks the present mark, or may lack it; failed:
	// a Write has failed.
	count   uint64
	behind  bool
	failed  bool
	written time.Time // of the last Write or Sync
}

// New returns the file in a journal's folder. If it does not exist, Open creates it with a mark. fail gets errors of
// Write.
func New(files vfs.FS, dir string, m Mark, fail func(error)) *File {
	return &File{fs: files, dir: dir, now: m, fail: fail}
}

// Open opens the file, or creates it if it is missing or damaged. Without room for it, a later Sync creates it.
func (f *File) Open() error {
	path := filepath.Join(f.dir, Name)
	m, count, err := read(f.fs, path)
	switch {
	case err == nil:
		f.now, f.count = m, count
		f.file, err = f.fs.Open(path)
		return err
	case errors.Is(err, ErrDamaged):
		err = f.fs.Remove(path)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// create creates the file, which gets its name when it is complete.
func (f *File) create() error {
	const temporary = Name + ".tmp"
	path := filepath.Join(f.dir, temporary)
	if err := f.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.fs.Create(path, fileSize)
	if err != nil {
		return err
	}
	f.count = 0
	if _, err = file.WriteAt(f.now.encode(1), slotSize); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = f.fs.Rename(path, filepath.Join(f.dir, Name))
	}
	if err == nil {
		err = f.fs.SyncDir(f.dir)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.count, f.behind = file, 1, false
	return nil
}

// Journal returns the identity of the journal, 0 while there is no file.
func (f *File) Journal() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0
	}
	return f.now.Journal
}

// Now returns the present mark.
func (f *File) Now() Mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Behind reports whether the file may lack the present mark.
func (f *File) Behind() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.behind
}

// Change changes the mark; Write or Sync stores it. A mark may only state durable facts.
func (f *File) Change(change func(m *Mark)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.now)
	f.behind = true
}

// every is the pause between two Writes of a busy journal.
const every = 100 * time.Millisecond

// Write stores the mark, if it has changed, without a sync: a kill of the process cannot lose it, but a power failure
// can. Unless the journal has nothing else to do (idle), it is not written more often than every 100 ms. Lack of room is
// not an error; a later call tries again.
func (f *File) Write(idle bool) {
	f.mu.Lock()
	var err error
	if f.behind && f.file != nil && !f.failed && (idle || time.Since(f.written) >= every) {
		err = f.write()
		f.behind = err != nil
		f.failed = err != nil && !errors.Is(err, vfs.ErrFull)
	}
	failed := f.failed
	f.mu.Unlock()
	if failed && err != nil {
		f.fail(fmt.Errorf("journal: %w", err))
	}
}

// write writes the mark to the slot of the older one.
func (f *File) write() error {
	count := f.count + 1
	if _, err := f.file.WriteAt(f.now.encode(count), int64(count%2)*slotSize); err != nil {
		return err
	}
	f.count, f.written = count, time.Now()
	return nil
}

// Sync stores the mark and makes it durable. If the file is missing, it is created; without room for it, a later Sync
// creates it. Errors: vfs.ErrFull for an existing file, after which Sync may be called again, or one of the disk.
func (f *File) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		if err := f.create(); err != nil && !errors.Is(err, vfs.ErrFull) {
			return err
		}
		return nil
	}
	if err := f.write(); err != nil {
		return err
	}
	f.behind = false
	return f.file.Sync()
}

// Close closes the file.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}
