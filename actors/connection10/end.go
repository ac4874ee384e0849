package connection10

import (
	"errors"
	"time"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/internal/dialect"
	"candlemark/internal/events"
	"candlemark/internal/stream"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// state is the state of a connection.
type state uint8

const (
	starting state = iota // the reader does the handshake
	running               // sessions may be begun
	closing               // waiting for sessions, then for the vhost
	closed                // the last frame is in the outbox
)

func (s state) String() string { return [...]string{"starting", "running", "closing", "closed"}[s] }

// grace is how long a peer may go on sending data that we cannot or will not process before the socket is closed:
// closing it earlier could keep the peer from reading our last frame.
const grace = 3 * time.Second

// ending is why a connection ends, and the remaining steps.
type ending struct {
	err      *amqp10.Error // error for the client; nil if it closes
	lost     bool          // the socket is dead
	asked    bool          // the client has sent close
	released bool          // the vhost has released its queues
}

// becomeRunning answers open with the broker's, once the connection is listed, followed by close if its virtual host
// or user was deleted meanwhile.
func (c *connection) becomeRunning(ctx actor.Context, p *peer) {
	if c.state != starting {
		return
	}
	c.state, c.peer = running, p
	p.by = &events.Origin{User: p.user.Name, Source: c.name, Interface: events.AMQP}
	c.log = c.log.With().Str("vhost", p.vhost.Name).Str("user", p.user.Name).Str("client", cut(p.open.ContainerID)).Logger()
	c.log.Info().Str("protocol", "AMQP 1.0").Str("product", cut(textOf(p.table, "product"))).Msg("connection opened")
	connevents.Created(c.cfg.Events, c.peer.by, c.self.Id, c.info)
	c.unwatch = c.cfg.Statuses.Watch(func(vhost, path string) {
		if vhost == p.vhost.Name {
			c.post(&statusChanged{path})
		}
	})
	c.startPulse()
	c.send(c.ourOpen())
	if err := c.outdated(); err != nil {
		c.fail(ctx, err)
	}
}

// outdated returns an error if the virtual host or the user was deleted during the handshake, before this connection
// was counted for them.
func (c *connection) outdated() error {
	if v, ok := c.cfg.VHost(c.peer.vhost.Name); !ok || v != c.peer.vhost {
		return protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '%s' is deleted", c.peer.vhost.Name)
	}
	if c.cfg.Permissions == nil {
		return nil
	}
	return c.cfg.Permissions.VHostAccess(c.peer.user, c.peer.vhost.Name)
}

// clientClosed handles the client's close, possibly while the broker is closing, too.
func (c *connection) clientClosed(ctx actor.Context) {
	c.end.asked = true
	switch c.state {
	case running:
		c.becomeClosing(ctx, ending{asked: true})
	case closed:
		c.leave(ctx)
	case starting, closing:
	}
}

// closeFor ends the connection for a CloseConnection, unless that is for other connections.
func (c *connection) closeFor(ctx actor.Context, m *mail.CloseConnection) {
	err, p := m.Err, c.peer
	switch {
	case m.VHost != "" && (p == nil || p.vhost.Name != m.VHost), m.User != "" && (p == nil || p.user.Name != m.User):
		return
	case c.state == starting:
		c.leave(ctx)
		return
	}
	if err == nil {
		err = protocol.ConnectionErrorf(protocol.ConnectionForced, "broker forced connection closure")
	}
	c.fail(ctx, err)
}

// fail ends the connection with an error for the client.
func (c *connection) fail(ctx actor.Context, err error) {
	if c.state != running {
		return
	}
	told := dialect.ErrorOf(err)
	line := c.log.Error()
	if told.Condition == amqp10.ConnectionForced {
		line = c.log.Info()
	}
	line.Err(err).Str("condition", string(told.Condition)).Msg("closing connection")
	c.becomeClosing(ctx, ending{err: told})
}

// lost: the socket or the peer is dead.
func (c *connection) lost(ctx actor.Context, err error) {
	asked := c.end.asked
	c.end.lost = true
	c.outbox.Close()
	switch c.state {
	case running:
		var socket *stream.SocketError
		if !asked || !errors.As(err, &socket) {
			c.log.Warn().Err(err).Msg("client unexpectedly closed TCP connection")
		}
		c.becomeClosing(ctx, ending{lost: true})
	case starting, closed:
		c.leave(ctx)
	case closing: // continues without the socket
	}
}

// becomeClosing starts the end: every session returns its deliveries.
func (c *connection) becomeClosing(ctx actor.Context, why ending) {
	c.state, c.end = closing, why
	c.leaveRunning()
	c.arm(c.cfg.CloseTimeout)
	for _, l := range c.links {
		c.root.Send(l.pid, &mail.CloseChannel{})
	}
	for channel, m := range c.begins {
		m.reply <- nil
		delete(c.begins, channel)
	}
	c.deleteExclusiveQueues(ctx)
}

// leaveRunning cuts the sessions off from the reader: none gets input after CloseChannel.
func (c *connection) leaveRunning() {
	c.turnover.Lock()
	defer c.turnover.Unlock()
	if !isClosed(c.stopping) {
		close(c.stopping)
	}
}

// deleteExclusiveQueues deletes the exclusive queues once no session is left: clients expect them to be gone when the
// connection is closed.
func (c *connection) deleteExclusiveQueues(ctx actor.Context) {
	if c.state != closing || len(c.links) > 0 || c.end.released {
		return
	}
	c.end.released = true
	if c.peer.vhost.PID == nil {
		c.becomeClosed(ctx)
		return
	}
	c.root.Send(c.peer.vhost.PID, &mail.ReleaseConnection{
		Request: mail.Request{ReplyTo: c.self}, Connection: c.self,
	})
}

// becomeClosed sends close. A client that has sent close gets some time to close the socket, others to send theirs.
func (c *connection) becomeClosed(ctx actor.Context) {
	c.state = closed
	c.peer.leave() // a client that sees it closed may open another one
	if c.end.lost {
		c.leave(ctx)
		return
	}
	wait := c.cfg.CloseTimeout
	if e := c.end.err; e != nil && (e.Condition == amqp10.ConnectionForced || e.Condition == amqp10.FramingError) {
		wait = min(grace, wait) // the peer may not read, and the broker may be stopping
	}
	c.arm(wait)
	c.send(&amqp10.Close{Error: c.end.err})
	if c.end.asked {
		c.log.Info().Msg("connection closed")
		c.outbox.Finish(func() { c.post(&drained{}) })
	}
}

// hangUp ends the output.
func (c *connection) hangUp() {
	if half, ok := c.cfg.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // errors do not matter: the socket is closed soon
		return
	}
	_ = c.cfg.Conn.Close()
}
