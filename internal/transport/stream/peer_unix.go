//go:build unix

package stream

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

var errHungUp = errors.New("the client has hung up")

// failure returns the error of a socket that is not being read: its peer has reset it, or has not answered the system
// for too long. A peer that has only closed its sending side is not an error: it may still wait for answers, and its
// earlier data is still unread.
func failure(socket syscall.RawConn) error {
	var gone bool
	err := socket.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(look, 0)
		gone = err == nil && n > 0 && look[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	if err == nil && gone {
		err = errHungUp
	}
	return err
}
