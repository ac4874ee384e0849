package supervision

import (
	"context"
	"time"

	"candlemark/actors/connection"
	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// localChannel is a channel whose client is a goroutine of the broker instead of a
// connection. So commands over HTTP meet the same checks, permissions and
// actors as those of any client.
type localChannel struct {
	in      *inbox // stands in for the connection
	channel *actor.PID
	out     *outbox.Outbox
	wake    chan struct{} // the outbox has something
	read    []byte        // what the channel sent and nobody looked at yet
	ended   bool
}

const (
	visitChannel = 1
	visitLeave   = 5 * time.Second // for giving back, after the answer
)

// openLocalChannel asks the root for a channel; nil comes back if it cannot be made.
type openLocalChannel struct {
	spec  connection.ChannelSpec
	reply chan<- *actor.PID
}

// openLocalChannel opens a channel for a user; leave it.
func (n *Node) openLocalChannel(ctx context.Context, by auth.User, vhost string) (*localChannel, error) {
	v, ok := n.VHost(vhost)
	if !ok {
		return nil, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", vhost)
	}
	if err := n.cfg.Permissions.VHostAccess(by, vhost); err != nil {
		return nil, err
	}
	w := &localChannel{in: n.newInbox(8), wake: make(chan struct{}, 1)}
	w.in.watching = true
	w.out = outbox.New(1<<30, func() {
		select {
		case w.wake <- struct{}{}:
		default: // it will look in any case
		}
	})
	reply := make(chan *actor.PID, 1)
	n.post(n.root, openLocalChannel{reply: reply, spec: connection.ChannelSpec{
		ID: visitChannel, Connection: w.in.pid, Outbox: w.out, Gate: message.NewGate(1 << 30), VHost: v, User: by,
		Capabilities: connection.Capabilities{BasicNack: true, PublisherConfirms: true},
	}})
	select {
	case w.channel = <-reply:
	case <-ctx.Done():
		w.in.close()
		return nil, ctx.Err()
	}
	if w.channel == nil {
		w.in.close()
		return nil, errStopping
	}
	n.watch(w.channel, w.in.pid)
	return w, nil
}

// watch has the end of an actor told to whoever is no actor.
func (n *Node) watch(whom, by *actor.PID) {
	if p, ok := n.system.ProcessRegistry.Get(whom); ok {
		p.SendSystemMessage(whom, &actor.Watch{Watcher: by})
	}
}

// send hands whole frames to the channel.
func (w *localChannel) send(frames []byte) {
	w.in.node.post(w.channel, &mail.Inbound{Runs: [][]byte{frames}})
}

func (w *localChannel) method(m protocol.Method) {
	w.send(protocol.AppendMethodFrame(nil, visitChannel, m))
}

// frame is the next frame from the channel.
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
		case m := <-w.in.replies:
			if err := w.told(m); err != nil {
				return f, err
			}
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
}

// told is what the channel tells its connection.
func (w *localChannel) told(m any) error {
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

// next is the next method from the channel; channel.close is an error.
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

// content is the content behind a method.
func (w *localChannel) content(ctx context.Context) (p protocol.Properties, body []byte, err error) {
	f, err := w.frame(ctx)
	if err != nil {
		return p, nil, err
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return p, nil, err
	}
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

// leave has the channel give back what it holds, and waits for that: who reads
// the answer is to find everything in its place.
func (w *localChannel) leave(ctx context.Context) {
	defer w.in.close()
	ctx, cancel := w.in.node.clock.WithTimeout(context.WithoutCancel(ctx), visitLeave)
	defer cancel()
	if !w.ended {
		w.in.node.post(w.channel, &mail.CloseChannel{})
	}
	for !w.ended {
		r, err := w.in.next(ctx)
		if err != nil {
			return
		}
		_ = w.told(r) // it ends in any case
	}
}
