package clock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// timerfd is a kernel timer that is waited for like a socket. It is precise to the nanosecond, while the runtime waits
// for its own timers in milliseconds. Its system calls do not block, and bypass Go's scheduler (ADR 90).
type timerfd struct {
	file *os.File
	raw  syscall.RawConn
}

func newWakeup() (wakeup, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("timerfd: %w", err), file.Close())
	}
	return &timerfd{file, raw}, nil
}

func (t *timerfd) set(d time.Duration) {
	in := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))} // 0 would disarm it
	// It fails only when it is closed, which wait reports.
	_ = t.raw.Control(func(fd uintptr) {
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&in)), 0, 0, 0)
	})
}

func (t *timerfd) wait() bool {
	var expirations [8]byte
	err := t.raw.Read(func(fd uintptr) bool {
		n, _, _ := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&expirations)), 8)
		return n == 8
	})
	return err == nil
}

func (t *timerfd) close() { _ = t.file.Close() }
