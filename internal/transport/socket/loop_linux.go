package socket

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Loops wait for sockets.
type Loops struct {
	carry func(post func())

	mu    sync.Mutex
	all   []*loop
	taken int
}

// NewLoops makes loops that begin with the first connections. carry calls post, which makes clients hand on their
// input, and may help with the work this causes.
func NewLoops(carry func(post func())) *Loops { return &Loops{carry: carry} }

// pick returns the loop for the next connection, in rotation.
func (l *Loops) pick() (*loop, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken++
	if limit := loopsFor(runtime.GOMAXPROCS(0)); len(l.all) >= limit { // the limit may have decreased
		return l.all[l.taken%limit], nil
	}
	one, err := newLoop(l.carry)
	if err != nil {
		return nil, err
	}
	l.all = append(l.all, one)
	go one.run()
	return one, nil
}

// Take makes a Conn of a TCP connection, which must not be used any more. Any other connection, or one that cannot be
// taken for lack of descriptors, is returned unchanged.
func (l *Loops) Take(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if far, is := conn.(*Far); is {
		tcp, ok = far.TCPConn, true
	}
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	loop, err := l.pick()
	if err != nil {
		return conn
	}
	c := &Conn{loop: loop, local: conn.LocalAddr(), remote: conn.RemoteAddr()}
	c.in.wake, c.out.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	var failed error
	err = raw.Control(func(fd uintptr) { c.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || failed != nil {
		return conn
	}
	_ = tcp.Close() // the original descriptor, so that Go's own poller is not woken for the events of this one
	c.loop.add(c)
	return c
}

// Close ends the loops when their last connection is closed. Take must not be called afterwards.
func (l *Loops) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.all {
		one.mu.Lock()
		one.closing = true
		one.mu.Unlock()
		one.rouse()
	}
}

// loop is one goroutine with an epoll, level-triggered: after a partial read, or one before the end of the stream, no
// second read is needed to find out.
type loop struct {
	epoll int
	file  *os.File        // the epoll descriptor, registered with Go's poller
	poll  syscall.RawConn // of file
	event int             // an eventfd that makes the loop check closing
	carry func(post func())

	mu      sync.Mutex
	conns   map[int32]*Conn
	closing bool
	ended   bool // epoll and event are closed
}

func newLoop(carry func(post func())) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("eventfd", err), unix.Close(epoll))
	}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, event, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(event)}); err != nil {
		return nil, errors.Join(os.NewSyscallError("epoll_ctl", err), unix.Close(event), unix.Close(epoll))
	}
	err = unix.SetNonblock(epoll, true) // required by Go's poller
	file := os.NewFile(uintptr(epoll), "epoll")
	poll, noPoll := file.SyscallConn()
	if err = errors.Join(err, noPoll, file.SetReadDeadline(time.Time{})); err != nil { // setting a deadline fails if Go's poller does not support the file
		return nil, errors.Join(err, unix.Close(event), file.Close())
	}
	return &loop{epoll: epoll, file: file, poll: poll, event: event, carry: carry, conns: map[int32]*Conn{}}, nil
}

func (l *loop) add(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[int32(c.fd)] = c
}

// remove forgets a connection whose descriptor is about to be closed.
func (l *loop) remove(c *Conn) {
	l.mu.Lock()
	delete(l.conns, int32(c.fd))
	last := l.closing && len(l.conns) == 0
	l.mu.Unlock()
	if last {
		l.rouse()
	}
}

// rouse wakes the loop to check whether it must stop.
func (l *loop) rouse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_, _ = unix.Write(l.event, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it fails only if the loop was roused very often without checking
	}
}

// control changes the events to wait for on a descriptor.
func (l *loop) control(fd int, before, after uint32) error {
	op := unix.EPOLL_CTL_MOD
	switch {
	case before == after:
		return nil
	case before == 0:
		op = unix.EPOLL_CTL_ADD
	case after == 0:
		op = unix.EPOLL_CTL_DEL
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return net.ErrClosed
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: after, Fd: int32(fd)}))
}

func (l *loop) run() {
	happened := make([]unix.EpollEvent, batch)
	conns := make([]*Conn, batch)
	var ready []Client
	for {
		n := l.wait(happened)
		if !l.find(happened[:n], conns) {
			return
		}
		ready = ready[:0]
		for i := range n {
			if conns[i] == nil {
				continue
			}
			if c := conns[i].happened(happened[i].Events); c != nil {
				ready = append(ready, c)
			}
			conns[i] = nil
		}
		round(ready, l.carry)
	}
}

// wait waits until something has happened. It waits in Go's poller, so that no thread is blocked in a system call (ADR 90).
func (l *loop) wait(found []unix.EpollEvent) (n int) {
	err := l.poll.Read(func(fd uintptr) bool {
		var err error
		n, err = events(int(fd), found)
		if err != nil && !errors.Is(err, unix.EINTR) {
			panic(os.NewSyscallError("epoll_wait", err)) // a programming error
		}
		return n > 0 || err != nil
	})
	if err != nil {
		panic(err) // only this goroutine closes the file
	}
	return n
}

// find looks up the connections of events; false means that the loop has ended.
func (l *loop) find(events []unix.EpollEvent, conns []*Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range events {
		conns[i] = l.conns[events[i].Fd]
		if int(events[i].Fd) == l.event {
			var b [8]byte
			_, _ = unix.Read(l.event, b[:])
		}
	}
	if l.ended = l.closing && len(l.conns) == 0; l.ended {
		_, _ = l.file.Close(), unix.Close(l.event)
	}
	return !l.ended
}
