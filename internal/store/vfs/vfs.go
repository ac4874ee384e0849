package vfs

import (
	"errors"
	"io"
)

// FS is a tree of files. Names are paths as of package path/filepath. Errors about
// missing and present files are fs.ErrNotExist and fs.ErrExist; a lack of room is
// ErrFull.
type FS interface {
	// Create makes a file that reads as size zeros and has the room for them, so
	// that writing within it cannot run out of space. The name must be free: else
	// fs.ErrExist. After an error (ErrFull) no file is left.
	Create(name string, size int64) (File, error)
	// Open opens a file for reading and writing, OpenRead for reading only.
	Open(name string) (File, error)
	OpenRead(name string) (File, error)
	// Rename gives a file another name in the same folder, replacing a file of that name; size and contents stay the
	// same, and may be open.
	Rename(from, to string) error
	// Remove takes a file away; open files remain usable.
	Remove(name string) error
	// List returns the names of the files and folders in dir (without dir), sorted.
	List(dir string) ([]string, error)
	// MakeDir makes a folder and those above it, if they are not there, and makes
	// their names durable.
	MakeDir(dir string) error
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
	// Stat returns the size of a file in bytes.
	Stat(name string) (int64, error)
	// Free returns the bytes that can still be written in dir's file system.
	Free(dir string) (uint64, error)
}

// File is an open file. WriteAt beyond its end makes it longer. Sync makes durable
// what was written before the call (fdatasync), and the size.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// ErrFull is in the chain of errors for a lack of room: the disk or a quota.
var ErrFull = errors.New("no space left on the disk")
