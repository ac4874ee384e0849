package stream

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/socket"
)

var (
	// ErrPending, from Dispatch: some of the frames read are not handed out yet, and handing them out may block.
	ErrPending = errors.New("not handed out yet")
	// errLeft: the loop reads the socket from now on.
	errLeft = errors.New("left to the loop")
)

// SocketError is the error of a read: no more data will come.
type SocketError struct{ error }

// Unwrap returns the socket's own error.
func (e *SocketError) Unwrap() error { return e.error }

// Protocol receives what a Reader reads. All methods except Lost are called by the reading goroutine.
type Protocol interface {
	// Dispatch hands out all complete frames that were read. want is the total size of the incomplete frame at the end,
	// as far as known. With ErrPending it is called again, when it may block.
	Dispatch() (want int, err error)
	// HeldUp is called when an alarm stops the reader.
	HeldUp()
	// Farewell continues to read after the traffic has ended with an error of Dispatch, or nil when the connection is
	// closing. It returns the error of the socket, if any.
	Farewell(err error) error
	// Lost is called, from any goroutine, when the socket has failed.
	Lost(err error)
	// Recovered is called with the value of a panic, or nil without one.
	Recovered(reason any)
	// Left releases held resources at the end of the reader.
	Left()
}

// Reader reads a socket, in its own goroutine or, if the socket belongs to a loop, in the goroutine of the loop while
// nothing has to be waited for (ADR 57). The exported fields above Waiting are set before Init.
type Reader struct {
	Input    Input
	Protocol Protocol
	Valve    *budget.Valve    // nil for none
	Arrivals *budget.Arrivals // of the connection
	Stopping <-chan struct{}  // closed when the connection is to end
	Again    <-chan struct{}  // a token means that an alarm may be over
	Flush    func()           // posts the results of Dispatch
	Carry    func(flush func())
	// Grace is the number of octets still read after the first publish during an alarm: the peer sends them before it
	// learns of the alarm.
	Grace uint64

	Waiting atomic.Bool // nothing is read, for a reason that is not the peer's
	Crowded atomic.Bool // nor an alarm

	// Its own:
	InLoop    bool // must not block
	Published bool // in the last read
	err       error
	grace     uint64 // octets read when Grace ends, 0 before the first publish during the alarm
	until     uint64 // octets read when reading must stop during the alarm even if contents are incomplete, 0 if not set
	loop      loop
	looking   *time.Timer // checks the peer while nothing is read
}

// Init prepares a Reader of a socket.
func (r *Reader) Init(conn net.Conn) {
	r.Input.Conn = conn
	r.loop.reader = r
	r.loop.conn, _ = conn.(looped)
	r.looking = WatchPeer(conn, r.Protocol.Lost)
}

// Run runs the handshake, which reports whether traffic may follow, and then the traffic. It returns when the reader
// has ended or the loop has the socket.
func (r *Reader) Run(handshake func() (ok bool)) {
	r.work(func() (left bool) {
		r.err = ErrPending
		return handshake() && r.traffic()
	})
}

// work calls do in the current goroutine. Afterwards the loop has the socket, or the reader has ended.
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

// end releases the resources of the reader.
func (r *Reader) end() {
	r.Input.Close()
	r.Protocol.Left()
}

// traffic handles input from the end of the handshake to the close, including Farewell. It reports whether the loop
// continues instead.
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

// serve reads and hands out frames. Nil means that the connection is closing, errLeft that the loop continues.
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

// Fill reads once, and blocks until there is input; want is as in [Input.Fill]. The error is a *SocketError.
func (r *Reader) Fill(want int) error {
	if err := r.Input.Fill(want); err != nil {
		return &SocketError{err}
	}
	return nil
}

// Forget reads until the socket ends, and returns the socket's error.
func (r *Reader) Forget() error {
	for {
		r.Input.Consume(len(r.Input.Unparsed()))
		if err := r.Input.Fill(0); err != nil {
			return err
		}
	}
}

// HandOn posts the results of Dispatch, if there are any, and helps with the work they cause before the socket is read
// again.
func (r *Reader) HandOn(found bool) {
	switch {
	case !found:
	case r.InLoop || r.Input.Last >= socket.Much: // the loop does it for all its connections
		r.Flush()
	default:
		r.Carry(r.Flush)
	}
}

// handOut hands out input as far as possible without blocking. False means that the reader's goroutine has to continue.
func (r *Reader) handOut() bool {
	if r.stopped() {
		return false
	}
	r.Published, r.InLoop = false, true
	r.loop.want, r.err = r.Protocol.Dispatch()
	r.InLoop = false
	return r.err == nil && !r.stopped() && r.isCalm() && r.hasCredit()
}

// goOn starts the reader's goroutine. err is the error of the socket, if any.
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
