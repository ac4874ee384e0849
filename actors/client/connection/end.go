package connection

import (
	"errors"
	"time"

	"candlemark/actors/client/lifecycle"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// becomeRunning answers connection.open: with open-ok, once the connection is listed, or with close if its virtual host
// or user was deleted during the handshake.
func (c *connection) becomeRunning(ctx actor.Context, s *session) {
	if c.State != lifecycle.Starting {
		return
	}
	c.session = s
	half := time.Duration(s.Heartbeat) * time.Second / 2
	// A peer is dead after four half intervals without a byte. The first may have started right after the last byte, so
	// this is at least two intervals after that byte.
	if err := c.Open(&s.Peer, lifecycle.Pulse{Every: half, Limit: 4 * half, Sends: true}); err != nil {
		c.Fail(ctx, err)
		return
	}
	c.send(&protocol.ConnectionOpenOk{})
}

// method0 handles a method on channel 0.
func (c *connection) method0(ctx actor.Context, m protocol.Method) {
	switch m.(type) {
	case *protocol.ConnectionClose:
		c.clientClose(ctx)
	case *protocol.ConnectionCloseOk:
		if c.State == lifecycle.Closed {
			c.Leave(ctx)
		} else if c.State == lifecycle.Running {
			c.unexpected(ctx, m)
		}
	case *protocol.ConnectionUpdateSecret:
		if c.State == lifecycle.Running {
			c.send(&protocol.ConnectionUpdateSecretOk{})
		}
	default:
		if c.State == lifecycle.Running {
			c.unexpected(ctx, m)
		}
	}
}

func (c *connection) unexpected(ctx actor.Context, m protocol.Method) {
	c.fail(ctx, protocol.ConnectionErrorf(protocol.ChannelErr,
		"unexpected method in connection state %s", c.State).For(m), false)
}

// clientClose handles connection.close, possibly while the broker is also closing.
func (c *connection) clientClose(ctx actor.Context) {
	switch c.State {
	case lifecycle.Running:
		c.Close(ctx)
	case lifecycle.Closing:
		c.err = nil // the client no longer needs an error
	case lifecycle.Closed:
		c.send(&protocol.ConnectionCloseOk{})
	case lifecycle.Starting: // the handshake answers instead
	}
}

// Fail implements lifecycle.Protocol.
func (c *connection) Fail(ctx actor.Context, err error) { c.fail(ctx, err, false) }

// fail ends the connection with an error for the client.
func (c *connection) fail(ctx actor.Context, err error, outOfStep bool) {
	if c.State != lifecycle.Running {
		c.outOfStep = c.outOfStep || outOfStep
		return
	}
	var cause *protocol.ConnectionError
	if !errors.As(err, &cause) {
		cause = &protocol.ConnectionError{Code: protocol.InternalError, Text: "INTERNAL_ERROR"}
	}
	c.blame(cause).Err(err).Str("method", protocol.NameOf(cause.Class, cause.Method)).Msg("closing connection")
	c.err, c.outOfStep = cause, outOfStep
	c.Close(ctx)
}

// blame returns the log line for an end with an error: a warning or error, unless the broker stops or an operator
// closes the connection.
func (c *connection) blame(cause *protocol.ConnectionError) *zerolog.Event {
	if cause.Code == protocol.ConnectionForced {
		return c.Log.Info()
	}
	return c.Log.Error()
}

// SendClose implements lifecycle.Protocol.
func (c *connection) SendClose() (answered, hurried bool) {
	e := c.err
	if e == nil {
		c.send(&protocol.ConnectionCloseOk{})
		return true, false
	}
	c.send(&protocol.ConnectionClose{ReplyCode: e.Code, ReplyText: e.Text, Class: e.Class, Method: e.Method})
	return false, c.outOfStep || e.Code == protocol.ConnectionForced
}
