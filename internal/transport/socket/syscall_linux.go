package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Nonblocking system calls bypass Go's scheduler, which would wake its monitor for the first one after a pause (ADR
// 90).

func read(fd int, b []byte) (int, error) {
	return number(unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))))
}

func write(fd int, b []byte) (int, error) {
	return number(unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))))
}

// events returns the number of events that have happened, without waiting.
func events(epoll int, found []unix.EpollEvent) (int, error) {
	return number(unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(found))), uintptr(len(found)), 0, 0, 0))
}

func number(n, _ uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
