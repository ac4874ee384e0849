package vfs

import (
	"errors"
	"io"
)

// FS is a tree of files. Names are paths of package path/filepath. Errors about missing and existing files are
// fs.ErrNotExist and fs.ErrExist; the error for lack of room is ErrFull.
type FS interface {
	// Create creates a file of size zero bytes and reserves their space, so that writing within it cannot run out of
	// space. If the name exists, it returns fs.ErrExist. After an error (ErrFull) no file is left.
	Create(name string, size int64) (File, error)
	// Open opens a file for reading and writing, OpenRead for reading only.
	Open(name string) (File, error)
	OpenRead(name string) (File, error)
	// Rename gives a file another name in the same folder, replacing a file of that name; size and contents stay the
	// same, and the file may be open.
	Rename(from, to string) error
	// Remove deletes a file; open files remain usable.
	Remove(name string) error
	// List returns the names of the files and folders in dir (without dir), sorted.
	List(dir string) ([]string, error)
	// MakeDir creates a folder and its parents, if missing, and makes their names durable.
	MakeDir(dir string) error
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
	// Stat returns the size of a file in bytes.
	Stat(name string) (int64, error)
	// Free returns the bytes that can still be written in dir's file system.
	Free(dir string) (uint64, error)
}

// File is an open file. WriteAt beyond its end extends it. Sync makes earlier writes and the size durable (fdatasync).
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// ErrFull is in the chain of errors for lack of room, on the disk or within a quota.
var ErrFull = errors.New("no space left on the disk")
