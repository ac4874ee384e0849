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

// state is how far the life of a connection has got.
type state uint8

const (
	starting state = iota // the reader does the handshake
	running               // sessions may be begun
	closing               // waits for sessions, then for the vhost
	closed                // the last word is in the outbox
)

func (s state) String() string { return [...]string{"starting", "running", "closing", "closed"}[s] }

// grace is how long a peer may go on sending that we cannot or will not
// understand before the socket is closed: closing it
// under what is still being sent would keep the peer from our last words.
const grace = 3 * time.Second

// ending is why a connection ends and what it still owes.
type ending struct {
	err      *amqp10.Error // what the client is told; nil if it asked
	lost     bool          // there is nobody to tell
	asked    bool          // the client has sent close
	released bool          // the vhost was told
}

// becomeRunning answers open: with ours, once the client finds itself listed, and with close behind that if what it opens
// was deleted meanwhile.
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

// outdated tells whether the virtual host or the user was deleted during the
// handshake, before this connection counted as one of theirs.
func (c *connection) outdated() error {
	if v, ok := c.cfg.VHost(c.peer.vhost.Name); !ok || v != c.peer.vhost {
		return protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '%s' is deleted", c.peer.vhost.Name)
	}
	if c.cfg.Permissions == nil {
		return nil
	}
	return c.cfg.Permissions.VHostAccess(c.peer.user, c.peer.vhost.Name)
}

// clientClosed: the client closes, perhaps while we are about to.
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

// closeFor ends the connection because somebody else wants it, unless that is about
// other connections.
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

// fail ends the connection with an error that the client is told.
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

// lost: the socket is dead or the peer is.
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
	case closing: // goes on without the socket
	}
}

// becomeClosing begins the end: every session gives back what it holds.
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

// leaveRunning turns the reader away from the sessions: none gets input after
// CloseChannel.
func (c *connection) leaveRunning() {
	c.turnover.Lock()
	defer c.turnover.Unlock()
	if !isClosed(c.stopping) {
		close(c.stopping)
	}
}

// deleteExclusiveQueues has the exclusive queues deleted once no session is left: clients
// expect them to be gone when they see the connection closed.
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

// becomeClosed says the last word. Who has sent close has some time to close the socket; who has not, to send it.
func (c *connection) becomeClosed(ctx actor.Context) {
	c.state = closed
	c.peer.leave() // who sees it closed may open another
	if c.end.lost {
		c.leave(ctx)
		return
	}
	wait := c.cfg.CloseTimeout
	if e := c.end.err; e != nil && (e.Condition == amqp10.ConnectionForced || e.Condition == amqp10.FramingError) {
		wait = min(grace, wait) // it may be deaf, and the broker about to stop
	}
	c.arm(wait)
	c.send(&amqp10.Close{Error: c.end.err})
	if c.end.asked {
		c.log.Info().Msg("connection closed")
		c.outbox.Finish(func() { c.post(&drained{}) })
	}
}

// hangUp says that nothing more will come.
func (c *connection) hangUp() {
	if half, ok := c.cfg.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // whatever it says, the socket is closed soon
		return
	}
	_ = c.cfg.Conn.Close()
}
