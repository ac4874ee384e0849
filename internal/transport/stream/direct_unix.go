//go:build unix

package stream

import (
	"errors"
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
	owner, ok := w.Conn.(syscall.Conn)
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
			_ = w.Conn.SetWriteDeadline(time.Time{})
			err = raw.Write(attempt)
		}
		b = nil
		if err != nil || n <= 0 {
			return 0
		}
		return w.wrote(n)
	}
}
