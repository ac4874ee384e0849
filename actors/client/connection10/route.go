package connection10

import (
	"time"

	"candlemark/actors/client/lifecycle"
	"candlemark/internal/transport/stream"
	"candlemark/protocol/amqp10"
)

// beginPatience is how long begin waits for the end of the previous session on its channel.
const beginPatience = 30 * time.Second

// route handles a frame that does not belong to the current run. It returns the session that gets the frame, nil if
// there is none or the frame was handled.
func (r *reader) route(f amqp10.Frame) (*lifecycle.Child, error) {
	if f.Type != amqp10.FrameAMQP {
		return nil, amqp10.Errorf(amqp10.FramingError, "SASL frame after the end of the SASL layer")
	}
	if len(f.Body) == 0 {
		return nil, nil
	}
	code, ok := f.Code()
	if !ok {
		return nil, amqp10.Errorf(amqp10.DecodeError, "frame without a performative")
	}
	l := r.sessions[f.Channel]
	switch {
	case code == amqp10.CodeClose:
		if _, _, err := f.Decode(); err != nil {
			return nil, err
		}
		if r.InLoop {
			return nil, stream.ErrPending
		}
		r.SendRuns()
		r.forwardClose()
		return nil, nil
	case code == amqp10.CodeBegin:
		if l != nil && !l.Closing {
			return nil, amqp10.Errorf(amqp10.IllegalState, "channel %d already has a session", f.Channel)
		}
		return nil, r.begin(f)
	case code < amqp10.CodeAttach || code > amqp10.CodeEnd:
		return nil, amqp10.Errorf(amqp10.IllegalState, "unexpected performative 0x%02x", code)
	case code == amqp10.CodeEnd && (l == nil || l.Closing):
		// go-amqp ends a session that it abandoned before begin was written, and may do so twice. It does not wait for
		// an answer.
		return nil, nil
	case l == nil || l.Closing:
		return nil, amqp10.Errorf(amqp10.FramingError, "channel %d has no session", f.Channel)
	case code == amqp10.CodeEnd: // the last input of the session
		l.Closing = true
	case code == amqp10.CodeTransfer:
		r.Published = true
	}
	return l, nil
}

// begin asks the actor to begin a session.
func (r *reader) begin(f amqp10.Frame) error {
	p, _, err := f.Decode()
	if err != nil {
		return err
	}
	m := p.(*amqp10.Begin)
	switch {
	case m.RemoteChannel.Set:
		return amqp10.Errorf(amqp10.IllegalState, "begin with a remote-channel, but the broker began no session")
	case f.Channel > r.peer.ChannelMax:
		return amqp10.Errorf(amqp10.FramingError, "channel number %d is higher than the negotiated channel-max (%d)", f.Channel, r.peer.ChannelMax)
	}
	if r.InLoop {
		return stream.ErrPending
	}
	r.SendRuns()
	if lifecycle.IsClosed(r.c.Stopping) {
		return nil
	}
	r.c.Post(&beginSession{channel: f.Channel, begin: Begin{
		NextOutgoingID: m.NextOutgoingID, IncomingWindow: m.IncomingWindow, OutgoingWindow: m.OutgoingWindow, HandleMax: min(m.HandleMax, r.c.cfg.LinkMax-1),
	}, reply: r.began})
	late := make(chan struct{})
	defer r.c.cfg.Clock.After(beginPatience, func() { close(late) }).Stop()
	select {
	case l := <-r.began:
		if l != nil {
			r.sessions[f.Channel] = l
		}
	case <-r.c.Stopping:
	case <-late:
		return amqp10.Errorf(amqp10.InternalError, "the previous session of channel %d has not ended in time", f.Channel)
	}
	return nil
}
