package localchannel

import (
	"context"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"
	"candlemark/supervision/ask"

	"github.com/asynkron/protoactor-go/actor"
)

// localChannel is a channel whose client is a goroutine of the broker instead of a connection. So the same checks and
// permissions apply to commands over HTTP as to any client.
type localChannel struct {
	asker   *ask.Asker
	in      *ask.Inbox // replaces the connection
	channel mail.Address
	out     *outbox.Outbox
	wake    chan struct{} // the outbox has output
	read    []byte        // output of the channel not parsed yet
	// properties is the size of the last content's properties, in bytes.
	properties int
	ended      bool
}

const (
	number       = 1
	leaveTimeout = 5 * time.Second // for returning messages, after the answer
)

// open opens a channel for a user with these permissions; leave it.
func (c *Commands) open(ctx context.Context, by auth.User, vhost string, may auth.Permissions) (*localChannel, error) {
	v, ok := c.cfg.VHosts.Find(vhost)
	if !ok {
		return nil, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", vhost)
	}
	if err := may.VHostAccess(by, vhost); err != nil {
		return nil, err
	}
	w := &localChannel{asker: c.cfg.Asker, in: c.cfg.Asker.Inbox(8), wake: make(chan struct{}, 1)}
	w.out = outbox.New(1<<30, func() {
		select {
		case w.wake <- struct{}{}:
		default: // already awake
		}
	})
	var err error
	w.channel, err = c.cfg.Spawn(ctx, connection.ChannelSpec{
		ID: number, Connection: w.in.PID, Outbox: w.out, Gate: message.NewGate(1 << 30), VHost: v, User: by, Permissions: may,
		By:           events.OriginOf(ctx),
		Capabilities: connection.Capabilities{BasicNack: true, PublisherConfirms: true},
	})
	if err != nil {
		w.in.Close()
		return nil, err
	}
	w.asker.Watch(w.channel, w.in)
	return w, nil
}

// send hands whole frames to the channel.
func (w *localChannel) send(frames []byte) {
	w.asker.Post(w.channel, &mail.Inbound{Runs: [][]byte{frames}})
}

func (w *localChannel) method(m protocol.Method) {
	w.send(protocol.AppendMethodFrame(nil, number, m))
}

// frame returns the next frame from the channel.
func (w *localChannel) frame(ctx context.Context) (protocol.Frame, error) {
	for {
		f, n, _, err := protocol.ParseFrame(w.read, 0)
		if n > 0 || err != nil {
			w.read = w.read[n:]
			return f, err
		}
		select {
		case <-w.wake:
			for b := w.out.Take(); b != nil; b = w.out.Take() {
				w.read = append(w.read, b...)
			}
		case m := <-w.in.Replies:
			if err := w.handle(m); err != nil {
				return f, err
			}
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
}

// handle handles mail from the channel to its connection.
func (w *localChannel) handle(m any) error {
	switch m := m.(type) {
	case *mail.CloseConnection:
		return m.Err
	case *mail.ChannelClosed:
		w.ended = true
	case *actor.Terminated:
		w.ended = true
		return protocol.ConnectionErrorf(protocol.InternalError, "the channel failed")
	}
	return nil
}

// next returns the next method from the channel; channel.close is an error.
func (w *localChannel) next(ctx context.Context) (protocol.Method, error) {
	f, err := w.frame(ctx)
	if err != nil {
		return nil, err
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if c, closed := m.(*protocol.ChannelClose); closed {
		return nil, &protocol.ChannelError{Code: c.ReplyCode, Text: c.ReplyText, Class: c.Class, Method: c.Method}
	}
	return m, err
}

// content returns the content after a method.
func (w *localChannel) content(ctx context.Context) (p protocol.Properties, body []byte, err error) {
	f, err := w.frame(ctx)
	if err != nil {
		return p, nil, err
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return p, nil, err
	}
	w.properties = len(h.Properties)
	if p, err = protocol.DecodeProperties(h.Properties); err != nil {
		return p, nil, err
	}
	for uint64(len(body)) < h.BodySize {
		if f, err = w.frame(ctx); err != nil {
			return p, nil, err
		}
		body = append(body, f.Payload...)
	}
	return p, body, nil
}

// leave makes the channel return its messages, and waits until it has: when the caller gets the answer, all are
// requeued.
func (w *localChannel) leave(ctx context.Context) {
	defer w.in.Close()
	ctx, cancel := w.asker.Clock.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if !w.ended {
		w.asker.Post(w.channel, &mail.CloseChannel{})
	}
	for !w.ended {
		r, err := w.in.Next(ctx)
		if err != nil {
			return
		}
		_ = w.handle(r) // it ends in any case
	}
}
