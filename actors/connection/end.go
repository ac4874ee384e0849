package connection

import (
	"errors"
	"time"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// state is the state of a connection.
type state uint8

const (
	starting state = iota // the reader does the handshake
	running               // channels may be opened
	closing               // waiting for channels, then for the vhost
	closed                // the last method is in the outbox
)

func (s state) String() string { return [...]string{"starting", "running", "closing", "closed"}[s] }

// grace is how long a peer may go on sending data that we cannot or will not process, or that has our close-ok,
// before the socket is closed: closing it earlier could keep the peer from reading our last method.
const grace = 3 * time.Second

// ending is why a connection ends, and the remaining steps.
type ending struct {
	err       *protocol.ConnectionError // error for the client; nil if it closes
	lost      bool                      // the socket is dead
	outOfStep bool                      // the client's bytes cannot be split into frames any more
	released  bool                      // the vhost has released its queues
}

// becomeRunning answers connection.open: with open-ok, once the connection is listed, or with close if its virtual
// host or user was deleted meanwhile.
func (c *connection) becomeRunning(ctx actor.Context, s *session) {
	if c.state != starting {
		return
	}
	c.state, c.session = running, s
	s.by = &events.Origin{User: s.user.Name, Source: c.name, Interface: events.AMQP}
	c.log = c.log.With().Str("vhost", s.vhost.Name).Str("user", s.user.Name).Str("client", s.client()).Logger()
	c.log.Info().Str("product", cut(s.product)).Msg("connection opened")
	connevents.Created(c.cfg.Events, c.session.by, c.self.Id, c.info)
	c.startHeartbeat()
	if err := c.outdated(); err != nil {
		c.fail(ctx, err, false)
		return
	}
	c.send(&protocol.ConnectionOpenOk{})
}

// outdated returns an error if the virtual host or the user was deleted during the handshake, before this connection
// was counted for them.
func (c *connection) outdated() error {
	s := c.session
	if v, ok := c.cfg.VHost(s.vhost.Name); !ok || v != s.vhost {
		return protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '%s' is deleted", s.vhost.Name)
	}
	if c.cfg.Permissions == nil {
		return nil
	}
	return c.cfg.Permissions.VHostAccess(s.user, s.vhost.Name)
}

// method0 handles a method on channel 0.
func (c *connection) method0(ctx actor.Context, m protocol.Method) {
	switch m.(type) {
	case *protocol.ConnectionClose:
		c.clientClose(ctx)
	case *protocol.ConnectionCloseOk:
		if c.state == closed {
			c.leave(ctx)
		} else if c.state == running {
			c.unexpected(ctx, m)
		}
	case *protocol.ConnectionUpdateSecret:
		if c.state == running {
			c.send(&protocol.ConnectionUpdateSecretOk{})
		}
	default:
		if c.state == running {
			c.unexpected(ctx, m)
		}
	}
}

func (c *connection) unexpected(ctx actor.Context, m protocol.Method) {
	c.fail(ctx, protocol.ConnectionErrorf(protocol.ChannelErr,
		"unexpected method in connection state %s", c.state).For(m), false)
}

// clientClose handles connection.close, possibly while the broker is closing, too.
func (c *connection) clientClose(ctx actor.Context) {
	switch c.state {
	case running:
		c.becomeClosing(ctx, ending{})
	case closing:
		c.end.err = nil // the client needs no error any more
	case closed:
		c.send(&protocol.ConnectionCloseOk{})
	case starting: // the handshake answers it
	}
}

// closeFor ends the connection for a CloseConnection, unless that is for other connections.
func (c *connection) closeFor(ctx actor.Context, m *mail.CloseConnection) {
	err, s := m.Err, c.session
	switch {
	case m.VHost != "" && (s == nil || s.vhost.Name != m.VHost), m.User != "" && (s == nil || s.user.Name != m.User):
		return
	case c.state == starting:
		c.leave(ctx)
		return
	}
	if err == nil {
		err = protocol.ConnectionErrorf(protocol.ConnectionForced, "broker forced connection closure")
	}
	c.fail(ctx, err, false)
}

// fail ends the connection with an error for the client.
func (c *connection) fail(ctx actor.Context, err error, outOfStep bool) {
	if c.state != running {
		c.end.outOfStep = c.end.outOfStep || outOfStep
		return
	}
	var told *protocol.ConnectionError
	if !errors.As(err, &told) {
		told = &protocol.ConnectionError{Code: protocol.InternalError, Text: "INTERNAL_ERROR"}
	}
	c.blame(told).Err(err).Str("method", protocol.NameOf(told.Class, told.Method)).Msg("closing connection")
	c.becomeClosing(ctx, ending{err: told, outOfStep: outOfStep})
}

// blame returns the log line for an end with an error: a warning or error, unless the broker stops or an operator
// closes the connection.
func (c *connection) blame(told *protocol.ConnectionError) *zerolog.Event {
	if told.Code == protocol.ConnectionForced {
		return c.log.Info()
	}
	return c.log.Error()
}

// lost: the socket or the peer is dead.
func (c *connection) lost(ctx actor.Context, err error) {
	c.end.lost = true
	c.outbox.Close()
	switch c.state {
	case running:
		c.log.Warn().Err(err).Msg("client unexpectedly closed TCP connection")
		c.becomeClosing(ctx, ending{lost: true})
	case starting, closed:
		c.leave(ctx)
	case closing: // continues without the socket
	}
}

// becomeClosing starts the end: every channel returns its deliveries.
func (c *connection) becomeClosing(ctx actor.Context, why ending) {
	if c.state != running {
		panic("connection: closing from " + c.state.String())
	}
	c.state, c.end = closing, why
	c.leaveRunning()
	c.arm(c.cfg.CloseTimeout)
	for _, l := range c.channels {
		c.root.Send(l.pid, &mail.CloseChannel{})
	}
	c.deleteExclusiveQueues(ctx)
}

// leaveRunning cuts the channels off from the reader: none gets input after CloseChannel.
func (c *connection) leaveRunning() {
	c.turnover.Lock()
	defer c.turnover.Unlock()
	if !isClosed(c.stopping) {
		close(c.stopping)
	}
}

// deleteExclusiveQueues deletes the exclusive queues once no channel is left: clients expect them to be gone when the
// connection is closed.
func (c *connection) deleteExclusiveQueues(ctx actor.Context) {
	if c.state != closing || len(c.channels) > 0 || c.end.released {
		return
	}
	c.end.released = true
	if c.session.vhost.PID == nil {
		c.becomeClosed(ctx)
		return
	}
	c.root.Send(c.session.vhost.PID, &mail.ReleaseConnection{
		Request: mail.Request{ReplyTo: c.self}, Connection: c.self,
	})
}

func (c *connection) released(ctx actor.Context) {
	if c.state == closing {
		c.becomeClosed(ctx)
	}
}

// becomeClosed sends the last method.
func (c *connection) becomeClosed(ctx actor.Context) {
	c.state = closed
	c.session.leave() // a client that sees it closed may open another one
	c.arm(c.cfg.CloseTimeout)
	switch e := c.end.err; {
	case c.end.lost:
		c.leave(ctx)
	case e == nil:
		c.send(&protocol.ConnectionCloseOk{})
		c.log.Info().Msg("connection closed")
		c.outbox.Finish(func() { c.post(&drained{}) })
	default:
		c.send(&protocol.ConnectionClose{ReplyCode: e.Code, ReplyText: e.Text, Class: e.Class, Method: e.Method})
		if c.end.outOfStep || e.Code == protocol.ConnectionForced {
			c.arm(min(grace, c.cfg.CloseTimeout)) // the peer may not read, and the broker may be stopping
		}
	}
}

// drained: the client has close-ok, and closes the socket. Until then it may still be sending, because in libraries
// connection.close may overtake output queued for channels. As in RabbitMQ nothing follows close-ok, not even the end
// of the stream: a client may see that before it has processed close-ok, and take it for a failure.
func (c *connection) drained() { c.arm(min(grace, c.cfg.CloseTimeout)) }

// hangUp ends the output, for a peer that does not speak AMQP.
func (c *connection) hangUp() {
	if half, ok := c.cfg.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // errors do not matter: the socket is closed soon
		return
	}
	_ = c.cfg.Conn.Close()
}

// recovered turns a panic of a goroutine into the end of the connection rather than of the broker.
func (c *connection) recovered(who string, reason any) {
	if reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
