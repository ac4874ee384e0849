package connection

import (
	"bytes"
	"errors"
	"sync/atomic"
	"time"

	"candlemark/internal/stream"
	"candlemark/protocol"
)

var (
	errPanic = errors.New("the broker failed")
	// errLeft: the loop reads from now on.
	errLeft = errors.New("left to the loop")
	// errPending: what was read is not handed out, or not all, and may have to be waited for.
	errPending = errors.New("not handed out yet")
)

// reader reads the socket, in a goroutine of its own that blocks on it, or, where the socket is one of many that a loop waits
// for, in that of the loop, as long as nothing has to be waited for. It alone decides to which channel bytes belong.
type reader struct {
	c       *connection
	in      stream.Input
	loop    stream.Loop
	waiting atomic.Bool // that nothing is read is not the peer's fault
	crowded atomic.Bool // nor is it an alarm's
	looking *time.Timer // whether the peer is there, while nothing is read

	// Its own:
	session   *session // nil until the handshake is done
	frameMax  uint32
	err       error // of what was read last; errPending: it is not handed out yet
	inLoop    bool  // nothing may be waited for
	links     map[uint16]*link
	current   *link   // whose frames the run at hand is made of
	touched   []*link // have runs to be sent
	published bool    // in the last read
	until     uint64  // octets up to which it reads on during the alarm, 0 for not at all
	flushing  func()  // r.flush, bound once
	opening   chan *link
	handled   chan struct{}
}

func (r *reader) init(c *connection) {
	r.c = c
	r.in.Conn, r.in.Gate = c.cfg.Conn, c.gate
	r.loop.Input, r.loop.Reader = &r.in, r
	r.loop.Over(c.cfg.Conn)
	r.flushing = r.flush
	r.opening, r.handled = make(chan *link, 1), make(chan struct{}, 1)
	r.looking = stream.WatchPeer(c.cfg.Conn, func(err error) { c.post(&lost{err}) })
}

// run is the first goroutine of the reader: handshake and traffic.
func (r *reader) run() {
	r.work(func() (left bool) {
		session, err := r.handshake()
		if errors.Is(err, errOtherProtocol) {
			r.c.post(&otherProtocol{bytes.Clone(r.in.Unparsed())})
			return false
		}
		if err != nil {
			r.c.post(&lost{err})
			return false
		}
		r.session, r.frameMax, r.err = session, session.frameMax, errPending
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
	if r.session != nil {
		r.session.leave() // the actor may have ended without knowing of it
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
		var step *outOfStep
		lostStep := errors.As(err, &step)
		if err != nil {
			r.c.post(&failed{err: err, outOfStep: lostStep})
		}
		err = r.drain(lostStep, r.farewell)
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

// room waits until the client has read enough of what it was sent to be sent the
// answer to a method that is the connection's own; false says that the connection
// is closing. Channels wait for themselves.
func (r *reader) room() bool {
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	room := make(chan struct{})
	r.c.outbox.WhenRoom(func() { close(room) })
	select {
	case <-room:
		return true
	case <-r.c.stopping:
		return false
	}
}

// dispatch hands out all whole frames that were read, one mail per channel.
// want is how long the frame is that is not whole yet, as far as known.
func (r *reader) dispatch() (want int, err error) {
	defer r.carry()
	buf := r.in.Unparsed()
	begin, at := 0, 0 // buf[begin:at] is the run at hand
	r.current = nil
	for {
		f, n, need, err := protocol.ParseFrame(buf[at:], r.frameMax)
		if f.Type == protocol.FrameHeader || f.Type == protocol.FrameBody {
			r.published = true
		}
		if n > 0 && err == nil && r.continues(f) {
			at += n
			continue
		}
		r.endRun(buf[begin:at:at])
		begin = at
		at += n
		r.current = nil
		if n == 0 || err != nil {
			r.in.Consume(at)
			if n == 0 && err != nil {
				err = &outOfStep{err}
			}
			return need, err
		}
		if r.current, err = r.route(f); err != nil {
			if errors.Is(err, errPending) {
				at -= n // it comes again
			}
			r.in.Consume(at)
			return 0, err
		}
		if r.current == nil {
			begin = at
		}
	}
}

// continues reports whether f simply prolongs the run at hand.
func (r *reader) continues(f protocol.Frame) bool {
	l := r.current
	return l != nil && f.Channel == l.id && !l.closing && f.Type <= protocol.FrameBody && !ofClassChannel(f)
}

func ofClassChannel(f protocol.Frame) bool {
	return f.Type == protocol.FrameMethod && f.Payload[1] == 20 && f.Payload[0] == 0
}

// drain reads on after the traffic: handle gets the methods of channel 0 until
// it returns true, everything else is forgotten. The error is the socket's.
func (r *reader) drain(lostStep bool, handle func(protocol.Method) (done bool)) error {
	for !lostStep {
		f, err := r.frame(r.frameMax)
		var step *outOfStep
		var socket *socketError
		switch {
		case errors.As(err, &socket):
			return err
		case errors.As(err, &step):
			lostStep = true
		case err == nil && f.Channel == 0 && f.Type == protocol.FrameMethod:
			if m, err := protocol.DecodeMethod(f.Payload); err == nil && handle(m) {
				return nil
			}
		}
	}
	for {
		r.in.Consume(len(r.in.Unparsed()))
		if err := r.in.Fill(0); err != nil {
			return err
		}
	}
}

// farewell has the actor answer what still matters while it is closing.
func (r *reader) farewell(m protocol.Method) bool {
	switch m.(type) {
	case *protocol.ConnectionClose, *protocol.ConnectionCloseOk:
		return !r.tell(m)
	}
	return false
}

// tell has the actor handle a method of channel 0, and waits for it; false says
// that the actor has ended.
func (r *reader) tell(m protocol.Method) bool {
	r.c.post(&method0{method: m, handled: r.handled})
	select {
	case <-r.handled:
		return true
	case <-r.c.done:
		return false
	}
}
