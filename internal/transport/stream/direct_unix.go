//go:build unix

package stream

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"candlemark/internal/transport/outbox"
)

// Direct returns a function for appenders to write to the socket without waiting; nil for connections without their own
// descriptor, such as TLS.
func (w *Writer) Direct() outbox.TryWrite {
	if l, ok := w.Conn.(interface{ TryWrite(b []byte) int }); ok {
		return func(bytes []byte) int { return w.wrote(l.TryWrite(bytes)) }
	}
	try := AtOnce(w.Conn)
	if try == nil {
		return nil
	}
	return func(bytes []byte) int { return w.wrote(try(bytes)) }
}

// AtOnce returns a function that writes what a socket takes without waiting, and returns how much that is; an error is that of the next write. It lifts a write
// deadline that has passed. Nil for connections without their own descriptor.
func AtOnce(conn net.Conn) func(b []byte) int {
	owner, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := owner.SyscallConn()
	if err != nil {
		return nil
	}
	var b []byte // of the current attempt
	var n int
	attempt := func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b) // the writer gets the error again
		return true
	}
	return func(bytes []byte) int {
		b, n = bytes, 0
		err := raw.Write(attempt)
		if errors.Is(err, os.ErrDeadlineExceeded) { // the deadline of an earlier write
			_ = conn.SetWriteDeadline(time.Time{})
			err = raw.Write(attempt)
		}
		b = nil
		if err != nil {
			return 0
		}
		return max(n, 0)
	}
}
