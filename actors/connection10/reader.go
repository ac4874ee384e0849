package connection10

import (
	"errors"
	"sync/atomic"
	"time"

	"candlemark/internal/stream"
	"candlemark/protocol/amqp10"
)

var errPanic = errors.New("the broker failed")

// socketError is the error of Read: nothing more will come.
type socketError struct{ error }

func (e *socketError) Unwrap() error { return e.error }

// reader reads the socket, in a goroutine of its own that blocks on it. It alone decides to which session bytes belong.
type reader struct {
	c       *connection
	in      stream.Input
	waiting atomic.Bool // that nothing is read is not the peer's fault
	crowded atomic.Bool // nor is it an alarm's
	looking *time.Timer // whether the peer is there, while nothing is read

	// Its own:
	peer      *peer // nil until the handshake is done
	opening   bool  // the protocol headers have been exchanged
	frameMax  uint32
	links     map[uint16]*link
	current   *link   // whose frames the run at hand is made of
	touched   []*link // have runs to be sent
	published bool    // in the last read
	until     uint64  // octets up to which it reads on during the alarm, 0 for not at all
	began     chan *link
	handled   chan struct{}
}

func (r *reader) init(c *connection) {
	r.c = c
	r.in.Conn, r.in.Gate = c.cfg.Conn, c.gate
	r.began, r.handled = make(chan *link, 1), make(chan struct{}, 1)
	r.links = map[uint16]*link{}
	r.looking = stream.WatchPeer(c.cfg.Conn, func(err error) { c.post(&lost{err}) })
}

// run is the goroutine: handshake, traffic and farewell.
func (r *reader) run() {
	defer r.end()
	defer func() { r.c.recovered("reader", recover()) }()
	if read := r.c.cfg.Read; len(read) > 0 {
		free := r.in.Room(len(read))
		r.in.Took(copy(free, read), len(free))
	}
	peer, err := r.handshake()
	if err != nil {
		r.refuse(err)
		r.c.post(&lost{err})
		return
	}
	r.peer, r.frameMax = peer, r.c.cfg.FrameMax
	r.c.post(&opened{peer}) // answered by the actor
	r.traffic()
}

// end gives back what the reader holds.
func (r *reader) end() {
	r.in.Close()
	if r.peer != nil {
		r.peer.leave() // the actor may have ended without knowing of it
	}
}

// traffic is that between handshake and end, and the farewell.
func (r *reader) traffic() {
	err := r.serve()
	var socket *socketError
	if !errors.As(err, &socket) {
		if err != nil {
			r.c.post(&failed{err})
		}
		err = r.drain(err == nil)
	}
	r.c.post(&lost{err})
}

// serve reads and hands out frames. Nil says that the connection is closing.
func (r *reader) serve() error {
	for {
		if isClosed(r.c.stopping) {
			return nil
		}
		r.published = false
		want, err := r.dispatch()
		if err != nil {
			return err
		}
		if !r.calm() || !r.credit() {
			return nil
		}
		if err := r.in.Fill(want); err != nil {
			return &socketError{err}
		}
	}
}

// credit waits until less of this connection's input is under way, and none of it
// waits for room to be kept in; false says that the connection is closing.
func (r *reader) credit() bool {
	gate, arrivals := r.c.gate, r.c.arrivals
	if gate.Open() && !arrivals.Stuck() {
		return true
	}
	r.crowded.Store(true)
	defer r.crowded.Store(false)
	return r.pause(func() bool { return gate.Wait(r.c.stopping) && arrivals.Wait(r.c.stopping) })
}

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
	defer r.flush()
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
				r.in.Consume(at + n)
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
	if !ok || f.Type != amqp10.FrameAMQP {
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
