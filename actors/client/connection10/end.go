package connection10

import (
	"time"

	"candlemark/actors/client/lifecycle"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// becomeRunning answers open with the broker's, once the connection is listed, followed by close if its virtual host or
// user was deleted during the handshake.
func (c *connection) becomeRunning(ctx actor.Context, p *peer) {
	if c.State != lifecycle.Starting {
		return
	}
	c.peer = p
	err := c.Open(&p.Peer, c.pulse())
	c.unwatch = c.cfg.Statuses.Watch(func(vhost, path string) {
		if vhost == p.VHost.Name {
			c.Post(&statusChanged{path})
		}
	})
	c.send(c.ourOpen())
	if err != nil {
		c.Fail(ctx, err)
	}
}

// pulse returns a Pulse whose checks are so frequent that no gap between two writes reaches the client's idle time-out,
// and that the client's silence is measured to a fourth of its limit, of which half is announced.
func (c *connection) pulse() lifecycle.Pulse {
	silence := time.Duration(c.cfg.Silence) * time.Second
	p := lifecycle.Pulse{Every: c.peer.idle / 3, Limit: silence, Sends: c.peer.idle > 0}
	if ours := silence / 4; ours > 0 && (p.Every == 0 || ours < p.Every) {
		p.Every = ours
	}
	return p
}

// clientClosed handles the client's close, possibly while the broker is closing, too.
func (c *connection) clientClosed(ctx actor.Context) {
	c.asked = true
	switch c.State {
	case lifecycle.Running:
		c.Close(ctx)
	case lifecycle.Closed:
		c.Leave(ctx)
	case lifecycle.Starting, lifecycle.Closing:
	}
}

// Fail implements lifecycle.Protocol.
func (c *connection) Fail(ctx actor.Context, err error) {
	if c.State != lifecycle.Running {
		return
	}
	c.err = dialect.ErrorOf(err)
	line := c.Log.Error()
	if c.err.Condition == amqp10.ConnectionForced {
		line = c.Log.Info()
	}
	line.Err(err).Str("condition", string(c.err.Condition)).Msg("closing connection")
	c.Close(ctx)
}

// SendClose implements lifecycle.Protocol. A client that has sent close gets some time to close the socket, any other
// client some time to send close.
func (c *connection) SendClose() (answered, hurried bool) {
	e := c.err
	c.send(&amqp10.Close{Error: e})
	return c.asked, e != nil && (e.Condition == amqp10.ConnectionForced || e.Condition == amqp10.FramingError)
}
