package stream

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"candlemark/internal/budget"
	"candlemark/internal/socket"
)

var (
	// ErrPending of Dispatch: what was read is not handed out, or not all, and may have to be waited for.
	ErrPending = errors.New("not handed out yet")
	// errLeft: the loop reads from now on.
	errLeft = errors.New("left to the loop")
)

// SocketError is the error of a read: nothing more will come.
type SocketError struct{ error }

// Unwrap returns the socket's own error.
func (e *SocketError) Unwrap() error { return e.error }

// Protocol is whom a Reader reads for. All but Lost is called by the goroutine that reads.
type Protocol interface {
	// Dispatch hands out all whole frames that were read. want is how many bytes the frame has in all that is not whole yet, as far as known.
	// With ErrPending it is called again, once it may wait.
	Dispatch() (want int, err error)
	// HeldUp is called when an alarm stops the reader.
	HeldUp()
	// Farewell reads on after the traffic, which has ended with an error of Dispatch, or nil when the connection is closing. It returns
	// the error of the socket, if there is one.
	Farewell(err error) error
	// Lost is called, from any goroutine, when the socket has failed.
	Lost(err error)
	// Recovered is called with the value of a panic, or nil without one.
	Recovered(reason any)
	// Left releases held resources at the end of the reader.
	Left()
}

// Reader reads a socket, in a goroutine of its own that blocks on it, or, where the socket is one of many that a loop waits for, in that
// of the loop, as long as nothing has to be waited for (ADR 57). The upper fields are set before Init.
type Reader struct {
	Input    Input
	Protocol Protocol
	Valve    *budget.Valve    // nil for none
	Arrivals *budget.Arrivals // of the connection
	Stopping <-chan struct{}  // is closed when the connection is to end
	Again    <-chan struct{}  // a token means that an alarm may be over
	Flush    func()           // posts what Dispatch has found
	Carry    func(flush func())
	// Grace is how many octets are read on after the first publish during an alarm: the peer sends them before it
	// knows that it may not.
	Grace uint64

	Waiting atomic.Bool // that nothing is read is not the peer's fault
	Crowded atomic.Bool // nor is it an alarm's

	// Its own:
	InLoop    bool // nothing may be waited for
	Published bool // in the last read
	err       error
	grace     uint64 // octets up to which Grace lasts, 0 before the first publish during the alarm
	until     uint64 // octets up to which it reads on during the alarm to end what has begun, 0 for not at all
	loop      loop
	looking   *time.Timer // whether the peer is there, while nothing is read
}

// Init prepares a Reader of a socket.
func (r *Reader) Init(conn net.Conn) {
	r.Input.Conn = conn
	r.loop.reader = r
	r.loop.conn, _ = conn.(looped)
	r.looking = WatchPeer(conn, r.Protocol.Lost)
}

// Run runs the handshake, which reports whether there is to be traffic, and that. It returns when the reader is over or the socket is left to a loop.
func (r *Reader) Run(handshake func() (ok bool)) {
	r.work(func() (left bool) {
		r.err = ErrPending
		return handshake() && r.traffic()
	})
}

// work does something in a goroutine, at the end of which the socket is left to the loop, or the reader is over.
func (r *Reader) work(do func() (left bool)) {
	left := false
	defer func() {
		if !left {
			r.end()
		}
	}()
	defer func() { r.Protocol.Recovered(recover()) }()
	left = do()
}

// end gives back what the reader holds.
func (r *Reader) end() {
	r.Input.Close()
	r.Protocol.Left()
}

// traffic returns that between handshake and end, and the farewell. It reports whether the loop goes on with it.
func (r *Reader) traffic() (left bool) {
	err := r.serve()
	var socket *SocketError
	switch {
	case errors.Is(err, errLeft):
		return true
	case !errors.As(err, &socket):
		err = r.Protocol.Farewell(err)
	}
	r.Protocol.Lost(err)
	return false
}

// serve reads and hands out frames. Nil says that the connection is closing, errLeft that the loop does it from now on.
func (r *Reader) serve() error {
	for {
		if r.stopped() {
			return nil
		}
		if errors.Is(r.err, ErrPending) {
			r.loop.want, r.err = r.Protocol.Dispatch()
		}
		if r.err != nil {
			return r.err
		}
		if !r.calm() || !r.credit() {
			return nil
		}
		if r.loop.leave() {
			return errLeft
		}
		if err := r.Fill(r.loop.want); err != nil {
			return err
		}
		r.err, r.Published = ErrPending, false
	}
}

// Fill reads once, and blocks until there is something; want is as with [Input.Fill]. The error is a *SocketError.
func (r *Reader) Fill(want int) error {
	if err := r.Input.Fill(want); err != nil {
		return &SocketError{err}
	}
	return nil
}

// Forget reads until the socket ends. The error is that of the socket.
func (r *Reader) Forget() error {
	for {
		r.Input.Consume(len(r.Input.Unparsed()))
		if err := r.Input.Fill(0); err != nil {
			return err
		}
	}
}

// HandOn posts what Dispatch has found, if there is anything, and takes part in the work that it makes before the socket is read again.
func (r *Reader) HandOn(found bool) {
	switch {
	case !found:
	case r.InLoop || r.Input.Last >= socket.Much: // the loop does it for all that have something
		r.Flush()
	default:
		r.Carry(r.Flush)
	}
}

// handOut hands out what was read, as far as that does not block. False means that the goroutine of the reader has to
// continue.
func (r *Reader) handOut() bool {
	if r.stopped() {
		return false
	}
	r.Published, r.InLoop = false, true
	r.loop.want, r.err = r.Protocol.Dispatch()
	r.InLoop = false
	return r.err == nil && !r.stopped() && r.isCalm() && r.hasCredit()
}

// goOn begins the goroutine of the reader. The error is that of the socket, if there is one.
func (r *Reader) goOn(err error) {
	if err != nil {
		r.err = &SocketError{err}
	}
	go r.work(r.traffic)
}

func (r *Reader) stopped() bool {
	select {
	case <-r.Stopping:
		return true
	default:
		return false
	}
}
