package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// preallocate reserves room in the file system, or writes zeros if it does not support that.
func preallocate(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	err := control(f, func(fd int) error { return unix.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fill(f, size)
	}
	return err
}

// syncData syncs without the times of the file, which fsync would write too.
func syncData(f *os.File) error { return control(f, unix.Fdatasync) }

// control repeats a call that a signal interrupted, which is not a failure of the disk.
func control(f *os.File, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			if failed = call(int(fd)); !errors.Is(failed, unix.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, failed)
}

func (disk) Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}
