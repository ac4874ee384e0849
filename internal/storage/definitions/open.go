package definitions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// FileName is the name of the file in the data folder.
const FileName = "definitions.db"

// lockPatience is the time that another broker has to release the folder.
const lockPatience = time.Second

// ErrInUse: another process has the data folder open.
var ErrInUse = errors.New("the data folder is in use by another broker")

// Open opens the definitions in a data folder, and creates both if missing. It checks everything that is stored.
// Errors: ErrInUse, ErrDamaged, ErrNewer, or errors of the disk.
func Open(dir string) (*File, error) {
	path := filepath.Join(dir, FileName)
	f := &File{commit: (*bolt.Tx).Commit, failed: make(chan error, 1)}
	f.line = newLine(f.store)
	err := guarded(func() error {
		if err := f.found(dir, path); err != nil {
			return err
		}
		return f.open(path)
	})
	if err == nil {
		return f, nil
	}
	if f.db != nil {
		_ = guarded(f.db.Close)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// minSize is the size of a new bbolt file with the smallest possible pages.
const minSize = 4 * 4096

func (f *File) open(path string) (err error) {
	if info, err := os.Stat(path); err == nil && info.Size() < minSize {
		return fmt.Errorf("%w: the file has only %d bytes", ErrDamaged, info.Size())
	}
	f.db, err = openFile(path)
	if err != nil {
		return err
	}
	if err := checkHeads(path, int64(f.db.Info().PageSize)); err != nil {
		return err
	}
	return f.db.View(func(tx *bolt.Tx) error {
		d, err := load(fileTables{tx})
		if err != nil {
			return err
		}
		f.last.Store(d.Revision)
		for problem := range tx.Check() {
			err = errors.Join(err, problem)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	})
}

// The layout of bbolt's meta pages, offsets in bytes; the checksum is FNV-1a of the bytes before it.
const (
	headAt   = 16 // after the header of the page
	headSize = 56
	headMark = 0xED0CDAED
)

// checkHeads checks both meta pages. bbolt accepts one, and would show the definitions before the last change if the
// newer one is damaged. A crash damages neither: each is in one sector of the disk.
func checkHeads(path string, pageSize int64) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for page := range int64(2) {
		var head [headAt + headSize + 8]byte
		if _, err := file.ReadAt(head[:], page*pageSize); err != nil {
			return err
		}
		sum := fnv.New64a()
		_, _ = sum.Write(head[headAt : headAt+headSize]) // never fails
		if binary.NativeEndian.Uint32(head[headAt:]) != headMark || binary.NativeEndian.Uint64(head[headAt+headSize:]) != sum.Sum64() {
			return fmt.Errorf("%w: the checksum of meta page %d at offset %d is wrong", ErrDamaged, page, page*pageSize)
		}
	}
	return nil
}

func openFile(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockPatience, FreelistType: bolt.FreelistMapType})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return db, err
}

// found creates an empty file if there is none. The file gets its name when it is complete, so that an incomplete file
// after a power failure is never taken for damage.
func (f *File) found(dir, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, FileName+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	if err := temporary.Close(); err != nil {
		return err
	}
	if err := makeFile(temporary.Name()); err != nil {
		return err
	}
	// Not a rename, which could replace the file of another broker.
	err = os.Link(temporary.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f.made = err == nil
	return errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
}

func makeFile(path string) error {
	db, err := openFile(path)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range allTables {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
