package connection

import (
	"sync/atomic"

	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// New returns the actor of one connection. It starts the handshake when it is spawned, and closes Conn when it ends.
// It must not be restarted.
func New(cfg Config) actor.Actor {
	cfg.setDefaults()
	c := &connection{cfg: cfg}
	c.Init(&c.cfg.Settings, c, &c.reader.Reader, &words)
	return c
}

var words = lifecycle.Wording{
	Protocol: "AMQP 0-9-1", Children: "channels", Child: "channel", Silent: "missed heartbeats from client",
}

// connection is the actor. The fields below the line belong to its turns; the reader uses only the fields above.
type connection struct {
	lifecycle.Connection
	cfg     Config
	replies atomic.Int64 // bytes of direct replies that wait in its channels
	reader  reader

	// ---
	session   *session                  // nil until the handshake is done
	opens     map[uint16]*openChannel   // waiting until the number is free
	err       *protocol.ConnectionError // error for the client; nil if the client closes
	outOfStep bool                      // the client's bytes can no longer be split into frames
	informed  bool                      // connection.blocked was sent
}

// Receive implements actor.Actor.
func (c *connection) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *opened:
		c.becomeRunning(ctx, m.session)
	case *openChannel:
		c.openChannel(ctx, m)
	case *method0:
		c.method0(ctx, m.method)
		m.handled <- struct{}{}
	case *failed:
		c.fail(ctx, m.err, m.outOfStep)
	case *otherProtocol:
		c.handOver(m)
	case *mail.ChannelClosed:
		c.channelClosed(ctx, m)
	default:
		c.Handle(ctx)
	}
}

// Private mail of the reader.
type (
	opened struct{ session *session }
	// failed: the peer violated the protocol. outOfStep: its bytes can no longer be split into frames.
	failed struct {
		err       error
		outOfStep bool
	}
	// otherProtocol: the client speaks AMQP 1.0; the reader has stopped after reading these bytes.
	otherProtocol struct{ read []byte }
	// method0 is a method of channel 0; the reader waits for handled.
	method0 struct {
		method  protocol.Method
		handled chan<- struct{}
	}
)

// Read implements lifecycle.Protocol.
func (c *connection) Read() {
	c.reader.init(c)
	go c.reader.run()
}

// Heartbeat implements lifecycle.Protocol [AMQP 4.2.7].
func (c *connection) Heartbeat(b []byte) []byte { return protocol.AppendHeartbeat(b) }

// Stop implements lifecycle.Protocol.
func (c *connection) Stop() {}

// handOver passes the socket to an actor for the other protocol, and waits to be stopped.
func (c *connection) handOver(m *otherProtocol) {
	if c.State != lifecycle.Starting || c.Leaves {
		return
	}
	c.SocketHandedOver, c.State = true, lifecycle.Closed
	c.Arm(c.cfg.CloseTimeout)
	c.cfg.Handover(c.Self, c.cfg.Conn, m.read)
}

// send appends a method on channel 0.
func (c *connection) send(m protocol.Method) { c.sendOn(0, m) }

func (c *connection) sendOn(channel uint16, m protocol.Method) {
	c.Outbox.End(protocol.AppendMethodFrame(c.Outbox.Begin(), channel, m))
}
