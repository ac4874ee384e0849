package definitions

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	bolt "go.etcd.io/bbolt"
)

// File keeps definitions in a bbolt file, whose lock is also the lock of the data folder.
type File struct {
	db     *bolt.DB
	line   *line
	last   atomic.Uint64 // revision
	broken error         // why nothing more can be stored; used only by the line's goroutine
	failed chan error    // gets broken, once
	made   bool          // by Open

	commit func(*bolt.Tx) error // (*bolt.Tx).Commit, except in tests
}

var _ Store = (*File)(nil)

// Apply implements Store. Errors: as named by Store, or errors of the disk. A full disk fails only the change. After
// any other failure to write, the contents of the disk are unknown, so every later change fails with the same error.
func (f *File) Apply(c Change, done func(uint64, error)) { f.line.add(c, done) }

// Load implements Store. Errors: ErrDamaged, ErrNewer, or errors of the disk.
func (f *File) Load() (d *Definitions, err error) {
	err = guarded(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			d, err = load(fileTables{tx})
			return err
		})
	})
	return d, err
}

// Failed gets, once, the reason why nothing more can be stored: the broker has to stop.
func (f *File) Failed() <-chan error { return f.failed }

// Revision implements Store.
func (f *File) Revision() uint64 { return f.last.Load() }

// Made reports whether Open has created the file, because it was missing.
func (f *File) Made() bool { return f.made }

// Journal returns Definitions.Journal. Errors: as of Load.
func (f *File) Journal() (id uint64, err error) {
	err = guarded(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			known, err := readCounts(fileTables{tx})
			id = known.journal
			return err
		})
	})
	return id, err
}

// Entry returns Change.Entry of the last change. Errors: as of Load.
func (f *File) Entry() (entry uint64, err error) {
	err = guarded(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			known, err := readCounts(fileTables{tx})
			entry = known.entry
			return err
		})
	})
	return entry, err
}

// Close implements Store.
func (f *File) Close() error {
	if !f.line.close() {
		return nil
	}
	return f.db.Close()
}

func (f *File) store(group []*step) {
	if f.broken != nil {
		failGroup(group, f.broken)
		return
	}
	var revision uint64
	err := guarded(func() (err error) {
		revision, err = f.write(group)
		return err
	})
	if err == nil {
		f.last.Store(revision)
		return
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		f.broken = fmt.Errorf("definitions can no longer be stored: %w", err)
		err = f.broken
		f.failed <- err
	}
	failGroup(group, err)
}

func (f *File) write(group []*step) (revision uint64, err error) {
	tx, err := f.db.Begin(true)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if revision, err = makeGroup(fileTables{tx}, group); err != nil {
		return 0, err
	}
	return revision, f.commit(tx)
}

// guarded turns panics into errors: bbolt panics, and faults, on damaged pages.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			text := strings.TrimPrefix(fmt.Sprint(reason), "assertion failed: ")
			err = fmt.Errorf("%w: %s", ErrDamaged, text)
		}
	}()
	return f()
}

type fileTables struct{ tx *bolt.Tx }

func (t fileTables) bucket(in table) (*bolt.Bucket, error) {
	if b := t.tx.Bucket([]byte(in)); b != nil {
		return b, nil
	}
	if in == history && t.tx.Writable() {
		return t.tx.CreateBucket([]byte(in))
	}
	return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, in)
}

func (t fileTables) get(in table, key []byte) []byte {
	b, err := t.bucket(in)
	if err != nil {
		return nil
	}
	return b.Get(key)
}

func (t fileTables) put(in table, key, record []byte) error {
	b, err := t.bucket(in)
	if err != nil {
		return err
	}
	return b.Put(key, record)
}

func (t fileTables) remove(in table, key []byte) error {
	b, err := t.bucket(in)
	if err != nil {
		return err
	}
	return b.Delete(key)
}

func (t fileTables) each(in table, prefix []byte, f func(key, record []byte) error) error {
	if in == history && t.tx.Bucket([]byte(in)) == nil {
		return nil
	}
	b, err := t.bucket(in)
	if err != nil {
		return err
	}
	c := b.Cursor()
	for key, record := c.Seek(prefix); hasPrefix(key, prefix); key, record = c.Next() {
		if err := f(key, record); err != nil {
			return err
		}
	}
	return nil
}

// hasPrefix is false for the nil key after the last one.
func hasPrefix(key, prefix []byte) bool {
	return key != nil && len(key) >= len(prefix) && string(key[:len(prefix)]) == string(prefix)
}
