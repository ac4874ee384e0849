package connection

import (
	"time"

	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/stream"
	"candlemark/protocol"
)

// openPatience is how long channel.open waits for the end of the previous channel with its number.
const openPatience = 30 * time.Second

// route handles a frame that does not belong to the current run. It returns the channel that gets the frame, nil if
// there is none or the frame was handled.
func (r *reader) route(f protocol.Frame) (*lifecycle.Child, error) {
	if f.Channel == 0 {
		return nil, r.control(f)
	}
	if f.Type == protocol.FrameHeartbeat {
		return nil, f.Unexpected()
	}
	l := r.channels[f.Channel]
	switch {
	case l == nil:
		return nil, r.begin(f)
	case l.Closing:
		return nil, r.late(l, f)
	case !ofClassChannel(f):
		return &l.Child, nil
	}
	switch _, method, _ := protocol.MethodKey(f.Payload); method {
	case 10:
		return nil, protocol.ConnectionErrorf(protocol.ChannelErr,
			"second 'channel.open' seen").For(&protocol.ChannelOpen{})
	case 40, 41: // close, close-ok: the last input of the channel
		l.Closing = true
	}
	return &l.Child, nil
}

// control handles a frame of channel 0.
func (r *reader) control(f protocol.Frame) error {
	switch f.Type {
	case protocol.FrameHeartbeat:
		return nil
	case protocol.FrameMethod:
		m, err := protocol.DecodeMethod(f.Payload)
		if err != nil {
			return err
		}
		if r.InLoop {
			return stream.ErrPending
		}
		r.SendRuns()
		switch m.(type) {
		case *protocol.ConnectionClose, *protocol.ConnectionCloseOk: // closing does not wait for room
		default:
			if !r.room() {
				return nil
			}
		}
		r.forward(m)
		return nil
	}
	return f.Unexpected()
}

// begin handles a frame on a number without a channel: only channel.open is allowed.
func (r *reader) begin(f protocol.Frame) error {
	if f.Type != protocol.FrameMethod {
		return protocol.ConnectionErrorf(protocol.UnexpectedFrame, "expected method frame, got non method frame instead")
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		return err
	}
	if _, ok := m.(*protocol.ChannelOpen); !ok {
		return protocol.ConnectionErrorf(protocol.ChannelErr, "expected 'channel.open'").For(m)
	}
	if r.InLoop {
		return stream.ErrPending
	}
	r.SendRuns()
	if !r.room() {
		return nil
	}
	l, err := r.open(f.Channel)
	if l == nil {
		return err
	}
	if r.channels == nil {
		r.channels = make(map[uint16]*channel)
	}
	r.channels[f.Channel] = l
	return nil
}

// open asks the actor for a channel. It returns no channel and no error if the connection is closing; the actor is not
// asked then, as at most one reply may stay unread.
func (r *reader) open(id uint16) (*channel, error) {
	if lifecycle.IsClosed(r.c.Stopping) {
		return nil, nil
	}
	r.c.Post(&openChannel{id: id, reply: r.opening})
	late := make(chan struct{})
	defer r.c.cfg.Clock.After(openPatience, func() { close(late) }).Stop()
	select {
	case l := <-r.opening:
		return l, nil
	case <-r.c.Stopping:
		return nil, nil
	case <-late:
		return nil, protocol.ConnectionErrorf(protocol.InternalError, "the previous channel %d has not ended in time", id)
	}
}

// late handles a frame after the client's channel.close or close-ok. When both sides close at once, another close-ok is
// due; the frame is passed on as a copy, so that no credit is lost if the channel ends before it reads the frame.
func (r *reader) late(l *channel, f protocol.Frame) error {
	if !ofClassChannel(f) {
		if l.Ended.Load() {
			return r.begin(f)
		}
		return nil
	}
	switch _, method, _ := protocol.MethodKey(f.Payload); method {
	case 10:
		return r.begin(f)
	case 40, 41:
		switch {
		case !l.Ended.Load():
			if l.late++; l.late > 2 {
				return nil // repeating either method has no meaning
			}
		case method == 40: // it needs an answer, but there is no channel to answer
			return r.begin(f)
		default:
			return nil
		}
		r.SendRuns()
		m, err := protocol.DecodeMethod(f.Payload)
		if err != nil {
			return err
		}
		copied := protocol.AppendMethodFrame(nil, l.ID, m)
		r.c.PostMu.Lock()
		defer r.c.PostMu.Unlock()
		if !lifecycle.IsClosed(r.c.Stopping) {
			r.c.Root.Send(l.PID, &mail.Inbound{Runs: [][]byte{copied}})
		}
	}
	return nil
}
