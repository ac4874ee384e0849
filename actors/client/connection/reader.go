package connection

import (
	"bytes"
	"errors"

	"candlemark/actors/client/lifecycle"
	"candlemark/internal/transport/stream"
	"candlemark/protocol"
)

// reader distributes the input. Only the reader decides to which channel bytes belong.
type reader struct {
	stream.Reader
	lifecycle.Distributor
	c *connection

	// For the reader only:
	session  *session // nil until the handshake is done
	frameMax uint32
	channels map[uint16]*channel
	opening  chan *channel
	handled  chan struct{}
}

func (r *reader) init(c *connection) {
	r.c = c
	r.opening, r.handled = make(chan *channel, 1), make(chan struct{}, 1)
	c.InitReader(r, &r.Distributor)
}

// run is the first goroutine of the reader: handshake and normal operation.
func (r *reader) run() {
	r.Run(func() (ok bool) {
		session, err := r.handshake()
		if errors.Is(err, errOtherProtocol) {
			r.c.Post(&otherProtocol{bytes.Clone(r.Input.Unparsed())})
			return false
		}
		if err != nil {
			r.Lost(err)
			return false
		}
		r.session, r.frameMax = session, session.FrameMax
		return true
	})
}

// Left implements stream.Protocol.
func (r *reader) Left() {
	if r.session != nil {
		r.session.Leave() // the actor may have ended before it got the session
	}
}

// Farewell implements stream.Protocol.
func (r *reader) Farewell(err error) error {
	var step *outOfStep
	lostStep := errors.As(err, &step)
	if err != nil {
		r.c.Post(&failed{err: err, outOfStep: lostStep})
	}
	return r.drain(lostStep, r.farewell)
}

// room waits until the client has read enough output for the connection's own answer to a method; false if the
// connection is closing. Channels wait on their own.
func (r *reader) room() bool {
	r.Waiting.Store(true)
	defer r.Waiting.Store(false)
	room := make(chan struct{})
	r.c.Outbox.WhenRoom(func() { close(room) })
	select {
	case <-room:
		return true
	case <-r.c.Stopping:
		return false
	}
}

// Dispatch implements stream.Protocol: one mail per channel.
func (r *reader) Dispatch() (want int, err error) {
	rest := r.StartRead()
	defer r.EndRead()
	for {
		f, n, need, err := protocol.ParseFrame(rest, r.frameMax)
		if f.Type == protocol.FrameHeader || f.Type == protocol.FrameBody {
			r.Published = true
		}
		if n > 0 && err == nil && f.Type <= protocol.FrameBody && r.Continues(f.Channel) && !ofClassChannel(f) {
			rest = rest[n:]
			continue
		}
		r.EndRun(rest, n)
		if n == 0 || err != nil {
			r.Skip()
			if n == 0 && err != nil {
				err = &outOfStep{err}
			}
			return need, err
		}
		if err := r.BeginRun(r.route(f)); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
}

func ofClassChannel(f protocol.Frame) bool {
	return f.Type == protocol.FrameMethod && f.Payload[1] == 20 && f.Payload[0] == 0
}

// drain continues reading after normal operation: handle gets the methods of channel 0 until it returns true; all other
// input is discarded. The error is the socket's.
func (r *reader) drain(lostStep bool, handle func(protocol.Method) (done bool)) error {
	for !lostStep {
		f, err := r.frame(r.frameMax)
		var step *outOfStep
		var socket *stream.SocketError
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
	return r.Forget()
}

// farewell passes to the actor the methods that matter while closing.
func (r *reader) farewell(m protocol.Method) bool {
	switch m.(type) {
	case *protocol.ConnectionClose, *protocol.ConnectionCloseOk:
		return !r.forward(m)
	}
	return false
}

// forward passes a method of channel 0 to the actor, and waits for it; false if the actor has ended.
func (r *reader) forward(m protocol.Method) bool {
	r.c.Post(&method0{method: m, handled: r.handled})
	select {
	case <-r.handled:
		return true
	case <-r.c.Done:
		return false
	}
}
