package connection10

import (
	"errors"

	"candlemark/actors/client/lifecycle"
	"candlemark/internal/transport/stream"
	"candlemark/protocol/amqp10"
)

// alarmGrace is the number of bytes still read from a connection during an alarm, so that a client that stops when its
// windows are closed can settle and receive during the alarm.
const alarmGrace = 256 << 10

// reader distributes the input. Only the reader decides to which session bytes belong.
type reader struct {
	stream.Reader
	lifecycle.Distributor
	c *connection

	// For the reader only:
	peer    *peer // nil until the handshake is done
	opening bool  // the protocol headers have been exchanged
	// anonymous: the client has logged in with ANONYMOUS.
	anonymous bool
	frameMax  uint32
	sessions  map[uint16]*lifecycle.Child
	began     chan *lifecycle.Child
	handled   chan struct{}
}

func (r *reader) init(c *connection) {
	r.c = c
	r.began, r.handled = make(chan *lifecycle.Child, 1), make(chan struct{}, 1)
	r.sessions = map[uint16]*lifecycle.Child{}
	r.Grace = alarmGrace
	c.InitReader(r, &r.Distributor)
}

// run is the first goroutine of the reader: handshake and normal operation.
func (r *reader) run() {
	r.Run(func() (ok bool) {
		if read := r.c.cfg.Read; len(read) > 0 {
			free := r.Input.Room(len(read))
			r.Input.Took(copy(free, read), len(free))
		}
		peer, err := r.handshake()
		if err != nil {
			r.refuse(err)
			r.Lost(err)
			return false
		}
		r.peer, r.frameMax = peer, r.c.cfg.FrameMax
		r.c.Post(&opened{peer}) // answered by the actor
		return true
	})
}

// Left implements stream.Protocol.
func (r *reader) Left() {
	if r.peer != nil {
		r.peer.Leave() // the actor may have ended before it got the peer
	}
}

// Farewell implements stream.Protocol.
func (r *reader) Farewell(err error) error {
	if err != nil {
		r.c.Post(&failed{err})
	}
	return r.drain(err == nil)
}

// Dispatch implements stream.Protocol: one mail per session.
func (r *reader) Dispatch() (want int, err error) {
	rest := r.StartRead()
	defer r.EndRead()
	for {
		f, n, need, err := amqp10.ParseFrame(rest, r.frameMax)
		if n == 0 || err != nil {
			r.EndRun(rest, 0)
			return need, err
		}
		if !r.Continues(f.Channel) || !r.prolongs(f) {
			r.EndRun(rest, n)
			if err := r.BeginRun(r.route(f)); err != nil {
				return 0, err
			}
		}
		rest = rest[n:]
	}
}

// prolongs reports whether a frame is an ordinary one for its session.
func (r *reader) prolongs(f amqp10.Frame) bool {
	code, ok := f.Code()
	if !ok || f.Type != amqp10.FrameAMQP {
		return false
	}
	r.Published = r.Published || code == amqp10.CodeTransfer
	return code >= amqp10.CodeAttach && code <= amqp10.CodeDetach
}

// frame returns the next whole frame, reading as long as necessary. It is valid until the chunk is released. It is used
// only during the handshake and the end.
func (r *reader) frame() (amqp10.Frame, error) {
	for {
		f, n, want, err := amqp10.ParseFrame(r.Input.Unparsed(), r.frameMax)
		r.Input.Consume(n)
		if n > 0 || err != nil {
			return f, err
		}
		if err := r.Fill(want); err != nil {
			return amqp10.Frame{}, err
		}
	}
}

// drain continues reading after normal operation, until the client's close; all other input is discarded, without
// parsing it if the frames are broken. The error is the socket's.
func (r *reader) drain(inStep bool) error {
	for inStep {
		f, err := r.frame()
		var socket *stream.SocketError
		if errors.As(err, &socket) {
			return err
		}
		if err != nil {
			break
		}
		if code, ok := f.Code(); ok && code == amqp10.CodeClose && f.Type == amqp10.FrameAMQP {
			r.forwardClose()
			break
		}
	}
	return r.Forget()
}

// forwardClose passes the client's close to the actor, and waits for it.
func (r *reader) forwardClose() {
	r.c.Post(&clientClosed{handled: r.handled})
	select {
	case <-r.handled:
	case <-r.c.Done:
	}
}
