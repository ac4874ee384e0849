package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that a loop waits for. Its methods may be called from any goroutine.
type Conn struct {
	loop          *loop
	local, remote net.Addr
	gone          atomic.Bool // closed, but perhaps its Client has not noticed yet

	// reading and writing are held during a system call, so that the descriptor is not closed during the call; both are
	// held to close it.
	reading, writing sync.Mutex
	fd               int // -1 when it is closed

	mu       sync.Mutex
	in, out  direction
	client   Client // set while it listens
	interest uint32 // events registered with epoll
}

var _ net.Conn = (*Conn)(nil)

// direction is the state of waiting in Read or Write.
type direction struct {
	wake    chan struct{} // capacity 1: check again
	waiting bool
	by      time.Time // the deadline, or zero
}

func (d *direction) rouse() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		if c.late(&c.in) {
			return 0, c.failed("read", os.ErrDeadlineExceeded)
		}
		n, err := c.TryRead(b)
		if !errors.Is(err, ErrNotNow) {
			return n, err
		}
		if err := c.wait(&c.in); err != nil {
			return 0, c.failed("read", err)
		}
	}
}

// TryRead reads available bytes; ErrNotNow if there are none.
func (c *Conn) TryRead(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.gone.Load() {
		return 0, c.failed("read", net.ErrClosed)
	}
	for {
		n, err := read(c.fd, b)
		switch {
		case n > 0 || n == 0 && len(b) == 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrNotNow
		case !errors.Is(err, unix.EINTR):
			return 0, c.failed("read", os.NewSyscallError("read", err))
		}
	}
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (written int, err error) {
	return c.bring(len(b), func(from int) (int, error) { return write(c.fd, b[from:]) })
}

// maxPieces is the maximum number of pieces of one system call (UIO_MAXIOV).
const maxPieces = 1024

// WriteVector is Write for several pieces; it may write only a part of them without an error.
func (c *Conn) WriteVector(v [][]byte) (written int, err error) {
	return c.bring(1, func(int) (int, error) { return unix.Writev(c.fd, v[:min(len(v), maxPieces)]) })
}

// bring calls one, which writes from an offset, until at least least bytes are written.
func (c *Conn) bring(least int, one func(from int) (int, error)) (written int, err error) {
	for {
		if c.late(&c.out) {
			return written, c.failed("write", os.ErrDeadlineExceeded)
		}
		n, err := c.try(func() (int, error) { return one(written) })
		written += n
		if errors.Is(err, ErrNotNow) {
			err = c.wait(&c.out)
		}
		if err != nil || written >= least {
			return written, c.failed("write", err)
		}
	}
}

// TryWrite writes what the socket accepts immediately and returns the number of bytes, 0 on an error.
func (c *Conn) TryWrite(b []byte) int {
	n, _ := c.try(func() (int, error) { return write(c.fd, b) }) // the next Write returns the error again
	return n
}

func (c *Conn) try(one func() (int, error)) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.gone.Load() {
		return 0, net.ErrClosed
	}
	for {
		n, err := one()
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrNotNow
		case !errors.Is(err, unix.EINTR):
			return 0, os.NewSyscallError("write", err)
		}
	}
}

// failed wraps an error as other connections do; nil for nil.
func (c *Conn) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: what, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// late reports whether a deadline has passed.
func (c *Conn) late(d *direction) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !d.by.IsZero() && !c.gone.Load() && !time.Now().Before(d.by)
}

// wait waits until there may be something to read or room to write, or the deadline has changed.
func (c *Conn) wait(d *direction) error {
	c.mu.Lock()
	if c.gone.Load() {
		c.mu.Unlock()
		return net.ErrClosed
	}
	d.waiting = true
	err := c.update()
	if err != nil {
		d.waiting = false
	}
	by := d.by
	c.mu.Unlock()
	if err != nil {
		return err
	}
	var late <-chan time.Time
	if !by.IsZero() {
		timer := time.NewTimer(time.Until(by))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-d.wake:
		return nil
	case <-late:
		c.mu.Lock()
		defer c.mu.Unlock()
		d.waiting = false
		_ = c.update() // waiting for fewer events cannot fail while the descriptor is open
		return os.ErrDeadlineExceeded
	}
}

// update sets the events that the loop waits for; on error they are unchanged. mu is held.
func (c *Conn) update() error {
	before, gone := c.interest, c.gone.Load()
	c.interest = 0
	if c.client != nil || c.in.waiting && !gone {
		c.interest |= unix.EPOLLIN | unix.EPOLLRDHUP
	}
	if c.out.waiting && !gone {
		c.interest |= unix.EPOLLOUT
	}
	err := c.loop.control(c.fd, before, c.interest)
	if err != nil {
		c.interest = before
	}
	return err
}

// happened wakes the goroutines that wait for events of the loop, and returns the client that is to read, if any.
func (c *Conn) happened(events uint32) Client {
	const end = unix.EPOLLHUP | unix.EPOLLERR
	c.mu.Lock()
	defer c.mu.Unlock()
	read := events&(unix.EPOLLIN|unix.EPOLLRDHUP|end) != 0
	if read && c.in.waiting {
		c.in.waiting = false
		c.in.rouse()
	}
	if events&(unix.EPOLLOUT|end) != 0 && c.out.waiting {
		c.out.waiting = false
		c.out.rouse()
	}
	_ = c.update()
	if read {
		return c.client
	}
	return nil
}

// Listen makes the loop call the client to read, until it calls Pause. No goroutine may be reading.
func (c *Conn) Listen(client Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.Load() {
		return c.failed("read", net.ErrClosed)
	}
	c.client = client
	err := c.update()
	if err != nil {
		c.client = nil
	}
	return c.failed("read", err)
}

// Pause stops calls of the client. Only the client may call it, from Fill or Handle.
func (c *Conn) Pause() {
	c.mu.Lock()
	c.client = nil
	_ = c.update()
	gone := c.gone.Load()
	c.mu.Unlock()
	if gone {
		c.release()
	}
}

// Close implements net.Conn. A listening client is called once more.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.gone.Swap(true) {
		c.mu.Unlock()
		return c.failed("close", net.ErrClosed)
	}
	listening := c.client != nil
	if listening {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // the loop notices it even if the peer was already gone
	}
	_ = c.update()
	c.in.rouse()
	c.out.rouse()
	c.mu.Unlock()
	if !listening {
		c.release()
	}
	return nil
}

// release closes the descriptor.
func (c *Conn) release() {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return
	}
	c.loop.remove(c)
	_ = unix.Close(c.fd) // the descriptor is closed even on an error
	c.fd = -1
}

// CloseWrite closes the sending side.
func (c *Conn) CloseWrite() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.gone.Load() {
		return c.failed("close", net.ErrClosed)
	}
	return c.failed("close", os.NewSyscallError("shutdown", unix.Shutdown(c.fd, unix.SHUT_WR)))
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn. It does not affect a listening client.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.in, t) }

// SetWriteDeadline implements net.Conn. It does not affect TryWrite.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.out, t) }

func (c *Conn) setDeadline(d *direction, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.Load() {
		return c.failed("set", net.ErrClosed)
	}
	if d.by = t; d.waiting {
		d.rouse()
	}
	return nil
}

// SyscallConn returns the descriptor for inspection of the socket, not for reading or writing.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return rawConn{c}, nil }

type rawConn struct{ c *Conn }

// Control implements syscall.RawConn.
func (r rawConn) Control(f func(fd uintptr)) error {
	r.c.reading.Lock()
	defer r.c.reading.Unlock()
	if r.c.fd < 0 {
		return net.ErrClosed
	}
	f(uintptr(r.c.fd))
	return nil
}

// Read implements syscall.RawConn.
func (rawConn) Read(func(fd uintptr) bool) error { return errors.ErrUnsupported }

// Write implements syscall.RawConn.
func (rawConn) Write(func(fd uintptr) bool) error { return errors.ErrUnsupported }
