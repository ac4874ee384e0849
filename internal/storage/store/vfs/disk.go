package vfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// OS is the file system of the machine.
var OS FS = disk{}

type disk struct{}

type diskFile struct{ *os.File }

func (disk) Create(name string, size int64) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, full(err)
	}
	if err := preallocate(f, size); err != nil {
		return nil, errors.Join(full(fmt.Errorf("preallocate %s: %w", name, err)), f.Close(), os.Remove(name))
	}
	return diskFile{f}, nil
}

func (disk) Open(name string) (File, error) { return open(name, os.O_RDWR) }

func (disk) OpenRead(name string) (File, error) { return open(name, os.O_RDONLY) }

func open(name string, flags int) (File, error) {
	f, err := os.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (disk) Rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return fmt.Errorf("rename %s: to another folder", from)
	}
	return full(os.Rename(from, to))
}

func (disk) Remove(name string) error { return full(os.Remove(name)) }

func (disk) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (d disk) MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := d.MakeDir(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return full(err)
	}
	return d.SyncDir(above)
}

func (disk) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return full(errors.Join(d.Sync(), d.Close()))
}

func (disk) Stat(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f diskFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	return n, full(err)
}

func (f diskFile) Sync() error {
	if err := syncData(f.File); err != nil {
		return full(fmt.Errorf("sync %s: %w", f.Name(), err))
	}
	return nil
}

// full adds ErrFull to the chain of errors for a full disk.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// fill reserves room for a file where the system has no call for it. It writes zeros, because a sparse file would run
// out of space in the middle of a batch.
func fill(f *os.File, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at); err != nil {
			return err
		}
	}
	return nil
}
