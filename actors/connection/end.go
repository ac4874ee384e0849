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

// state is how far the life of a connection has got.
type state uint8

const (
	starting state = iota // the reader does the handshake
	running               // channels may be opened
	closing               // waits for channels, then for the vhost
	closed                // the last word is in the outbox
)

func (s state) String() string { return [...]string{"starting", "running", "closing", "closed"}[s] }

// grace is how long a peer may go on sending that we cannot or will not
// understand, or that has our close-ok, before the socket is closed: closing it
// under what is still being sent would keep the peer from our last words.
const grace = 3 * time.Second

// ending is why a connection ends and what it still owes.
type ending struct {
	err       *protocol.ConnectionError // what the client is told; nil if it asked
	lost      bool                      // there is nobody to tell
	outOfStep bool                      // there is nothing to hope for from its side
	released  bool                      // the vhost was told
}

// becomeRunning answers connection.open: with open-ok, once the client finds itself
// listed, or with close if what it opens was deleted meanwhile.
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

// outdated tells whether the virtual host or the user was deleted during the
// handshake, before this connection counted as one of theirs.
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

// method0 handles what the client says on channel 0.
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

// clientClose: the client closes, perhaps while we are about to.
func (c *connection) clientClose(ctx actor.Context) {
	switch c.state {
	case running:
		c.becomeClosing(ctx, ending{})
	case closing:
		c.end.err = nil // it need not be told
	case closed:
		c.send(&protocol.ConnectionCloseOk{})
	case starting: // the handshake answers it itself
	}
}

// closeFor ends the connection because somebody else wants it, unless that is about
// other connections.
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

// fail ends the connection with an error that the client is told.
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

// blame is the log line of an end that the client is told of: an error, unless
// the broker stops or an operator wants the connection gone.
func (c *connection) blame(told *protocol.ConnectionError) *zerolog.Event {
	if told.Code == protocol.ConnectionForced {
		return c.log.Info()
	}
	return c.log.Error()
}

// lost: the socket is dead or the peer is.
func (c *connection) lost(ctx actor.Context, err error) {
	c.end.lost = true
	c.outbox.Close()
	switch c.state {
	case running:
		c.log.Warn().Err(err).Msg("client unexpectedly closed TCP connection")
		c.becomeClosing(ctx, ending{lost: true})
	case starting, closed:
		c.leave(ctx)
	case closing: // goes on without the socket
	}
}

// becomeClosing begins the end: every channel gives back what it holds.
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

// leaveRunning turns the reader away from the channels: none gets input after
// CloseChannel.
func (c *connection) leaveRunning() {
	c.turnover.Lock()
	defer c.turnover.Unlock()
	if !isClosed(c.stopping) {
		close(c.stopping)
	}
}

// deleteExclusiveQueues has the exclusive queues deleted once no channel is left: clients
// expect them to be gone when they see the connection closed.
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

// becomeClosed says the last word.
func (c *connection) becomeClosed(ctx actor.Context) {
	c.state = closed
	c.session.leave() // who sees it closed may open another
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
			c.arm(min(grace, c.cfg.CloseTimeout)) // it may be deaf, and the broker about to stop
		}
	}
}

// drained: the client has close-ok, and closes the socket. Until then it may
// still be sending, for libraries let connection.close overtake what they have
// queued for channels. As in RabbitMQ nothing comes behind close-ok, not even the
// end of the stream: a client may see that before it has acted on close-ok, and
// take it for a failure.
func (c *connection) drained() { c.arm(min(grace, c.cfg.CloseTimeout)) }

// hangUp says, to who does not speak AMQP, that nothing more will come.
func (c *connection) hangUp() {
	if half, ok := c.cfg.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // whatever it says, the socket is closed soon
		return
	}
	_ = c.cfg.Conn.Close()
}

// recovered turns a panic of a goroutine into the end of the connection, not of
// the broker.
func (c *connection) recovered(who string, reason any) {
	if reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
