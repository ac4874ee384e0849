//go:build unix

package forward

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// reader returns a function that waits for bytes of a connection, and takes a buffer only when there are some. The caller gives it back.
func reader(from net.Conn) func() (b *[32 << 10]byte, n int, err error) {
	simple := func() (*[32 << 10]byte, int, error) { return plain(from) }
	owner, ok := from.(syscall.Conn)
	if !ok {
		return simple
	}
	raw, err := owner.SyscallConn()
	if err != nil {
		return simple
	}
	return func() (b *[32 << 10]byte, n int, err error) {
		var failed error
		err = raw.Read(func(fd uintptr) bool {
			b = buffers.Get().(*[32 << 10]byte)
			for {
				n, failed = syscall.Read(int(fd), b[:])
				switch {
				case errors.Is(failed, syscall.EINTR):
					continue
				case errors.Is(failed, syscall.EAGAIN):
					buffers.Put(b)
					return false
				}
				return true
			}
		})
		n = max(n, 0)
		switch {
		case err != nil: // closed while it waited: the buffer was given back
			b = buffers.Get().(*[32 << 10]byte)
			return b, 0, err
		case failed != nil:
			return b, 0, os.NewSyscallError("read", failed)
		case n == 0:
			return b, 0, io.EOF
		}
		return b, n, nil
	}
}
