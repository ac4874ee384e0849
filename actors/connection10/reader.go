package connection10

import (
	"errors"
	"sync/atomic"
	"time"

	"candlemark/internal/stream"
	"candlemark/protocol/amqp10"
)

var (
	errPanic = errors.New("the broker failed")
	// errLeft: the loop reads from now on.
	errLeft = errors.New("left to the loop")
	// errPending: what was read is not handed out, or not all, and may have to be waited for.
	errPending = errors.New("not handed out yet")
)

// socketError is the error of Read: nothing more will come.
type socketError struct{ error }

func (e *socketError) Unwrap() error { return e.error }

// reader reads the socket, in a goroutine of its own that blocks on it, or, where the socket is one of many that a loop waits
// for, in that of the loop, as long as nothing has to be waited for. It alone decides to which session bytes belong.
type reader struct {
	c       *connection
	in      stream.Input
	loop    stream.Loop
	waiting atomic.Bool // that nothing is read is not the peer's fault
	crowded atomic.Bool // nor is it an alarm's
	looking *time.Timer // whether the peer is there, while nothing is read

	// Its own:
	peer      *peer // nil until the handshake is done
	opening   bool  // the protocol headers have been exchanged
	err       error // of what was read last; errPending: it is not handed out yet
	inLoop    bool  // nothing may be waited for
	frameMax  uint32
	links     map[uint16]*link
	current   *link   // whose frames the run at hand is made of
	touched   []*link // have runs to be sent
	published bool    // in the last read
	until     uint64  // octets up to which it reads on during the alarm, 0 for not at all
	began     chan *link
	handled   chan struct{}
	flushing  func() // r.flush, bound once
}

func (r *reader) init(c *connection) {
	r.c = c
	r.in.Conn, r.in.Gate = c.cfg.Conn, c.gate
	r.began, r.handled = make(chan *link, 1), make(chan struct{}, 1)
	r.links = map[uint16]*link{}
	r.loop.Input, r.loop.Reader = &r.in, r
	r.loop.Over(c.cfg.Conn)
	r.flushing = r.flush
	r.looking = stream.WatchPeer(c.cfg.Conn, func(err error) { c.post(&lost{err}) })
}

// run is the first goroutine of the reader: handshake and traffic.
func (r *reader) run() {
	r.work(func() (left bool) {
		if read := r.c.cfg.Read; len(read) > 0 {
			free := r.in.Room(len(read))
			r.in.Took(copy(free, read), len(free))
		}
		peer, err := r.handshake()
		if err != nil {
			r.refuse(err)
			r.c.post(&lost{err})
			return false
		}
		r.peer, r.frameMax, r.err = peer, r.c.cfg.FrameMax, errPending
		r.c.post(&opened{peer}) // answered by the actor
		return r.traffic()
	})
}

// work does something in a goroutine, at the end of which the socket is left to the loop, or the reader is over.
func (r *reader) work(do func() (left bool)) {
	left := false
	defer func() {
		if !left {
			r.end()
		}
	}()
	defer func() { r.c.recovered("reader", recover()) }()
	left = do()
}

// end gives back what the reader holds.
func (r *reader) end() {
	r.in.Close()
	if r.peer != nil {
		r.peer.leave() // the actor may have ended without knowing of it
	}
}

// traffic is that between handshake and end, and the farewell. It tells whether the loop goes on with it.
func (r *reader) traffic() (left bool) {
	err := r.serve()
	var socket *socketError
	switch {
	case errors.Is(err, errLeft):
		return true
	case !errors.As(err, &socket):
		if err != nil {
			r.c.post(&failed{err})
		}
		err = r.drain(err == nil)
	}
	r.c.post(&lost{err})
	return false
}

// serve reads and hands out frames. Nil says that the connection is closing, errLeft that the loop does it from now on.
func (r *reader) serve() error {
	for {
		if isClosed(r.c.stopping) {
			return nil
		}
		if errors.Is(r.err, errPending) {
			r.loop.Want, r.err = r.dispatch()
		}
		if r.err != nil {
			return r.err
		}
		if !r.calm() || !r.credit() {
			return nil
		}
		if r.loop.Leave() {
			return errLeft
		}
		if err := r.in.Fill(r.loop.Want); err != nil {
			return &socketError{err}
		}
		r.err, r.published = errPending, false
	}
}

// HandOut implements stream.Reader.
func (r *reader) HandOut() bool {
	if isClosed(r.c.stopping) {
		return false
	}
	r.published, r.inLoop = false, true
	r.loop.Want, r.err = r.dispatch()
	r.inLoop = false
	return r.err == nil && !isClosed(r.c.stopping) && r.isCalm() && r.hasCredit()
}

// GoOn implements stream.Reader.
func (r *reader) GoOn(err error) {
	if err != nil {
		r.err = &socketError{err}
	}
	go r.work(r.traffic)
}

// Broken implements stream.Reader.
func (r *reader) Broken(reason any) {
	r.c.recovered("reader", reason)
	r.end()
}

// credit waits until less of this connection's input is under way, and none of it
// waits for room to be kept in; false says that the connection is closing.
func (r *reader) credit() bool {
	if r.hasCredit() {
		return true
	}
	gate, arrivals := r.c.gate, r.c.arrivals
	r.crowded.Store(true)
	defer r.crowded.Store(false)
	return r.pause(func() bool { return gate.Wait(r.c.stopping) && arrivals.Wait(r.c.stopping) })
}

// hasCredit tells whether credit has nothing to wait for.
func (r *reader) hasCredit() bool { return r.c.gate.Open() && !r.c.arrivals.Stuck() }

// pause waits, and looks meanwhile whether the peer is still there.
func (r *reader) pause(wait func() bool) bool {
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	if r.looking != nil {
		r.looking.Reset(stream.PeerLook)
		defer r.looking.Stop()
	}
	return wait()
}

// dispatch hands out all whole frames that were read, one mail per session.
// want is how long the frame is that is not whole yet, as far as known.
func (r *reader) dispatch() (want int, err error) {
	defer r.carry()
	buf := r.in.Unparsed()
	begin, at := 0, 0 // buf[begin:at] is the run at hand
	r.current = nil
	for {
		f, n, need, err := amqp10.ParseFrame(buf[at:], r.frameMax)
		if n == 0 || err != nil {
			r.endRun(buf[begin:at:at])
			r.in.Consume(at)
			return need, err
		}
		if l := r.current; l == nil || l.channel != f.Channel || !r.prolongs(f) {
			r.endRun(buf[begin:at:at])
			begin, r.current = at, nil
			if r.current, err = r.route(f); err != nil {
				if !errors.Is(err, errPending) { // else it comes again
					at += n
				}
				r.in.Consume(at)
				return 0, err
			}
		}
		if at += n; r.current == nil {
			begin = at
		}
	}
}

// prolongs reports whether a frame of the current channel is simply for its session.
func (r *reader) prolongs(f amqp10.Frame) bool {
	code, ok := f.Code()
	if !ok || f.Type != amqp10.FrameAMQP || r.current.closing {
		return false
	}
	r.published = r.published || code == amqp10.CodeTransfer
	return code >= amqp10.CodeAttach && code <= amqp10.CodeDetach
}

// frame returns the next whole frame, reading as long as it takes. It is valid
// until the chunk is released: only while the handshake and the farewell last.
func (r *reader) frame() (amqp10.Frame, error) {
	for {
		f, n, want, err := amqp10.ParseFrame(r.in.Unparsed(), r.frameMax)
		r.in.Consume(n)
		if n > 0 || err != nil {
			return f, err
		}
		if err := r.in.Fill(want); err != nil {
			return amqp10.Frame{}, &socketError{err}
		}
	}
}

// drain reads on after the traffic, until the client closes: everything else is forgotten, and the bytes, too, when they
// are no longer frames. The error is the socket's.
func (r *reader) drain(inStep bool) error {
	for inStep {
		f, err := r.frame()
		var socket *socketError
		if errors.As(err, &socket) {
			return err
		}
		if err != nil {
			break
		}
		if code, ok := f.Code(); ok && code == amqp10.CodeClose && f.Type == amqp10.FrameAMQP {
			r.tellClose()
			break
		}
	}
	return r.forget()
}

// forget reads until the socket ends.
func (r *reader) forget() error {
	for {
		r.in.Consume(len(r.in.Unparsed()))
		if err := r.in.Fill(0); err != nil {
			return err
		}
	}
}

// tellClose has the actor handle the client's close, and waits for it.
func (r *reader) tellClose() {
	r.c.post(&clientClosed{handled: r.handled})
	select {
	case <-r.handled:
	case <-r.c.done:
	}
}
