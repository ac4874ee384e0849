package connection

import (
	"sync"
	"sync/atomic"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/stream"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// New returns the actor of one connection. It starts the handshake when it is spawned, and closes Conn when it ends.
// It must not be restarted.
func New(cfg Config) actor.Actor {
	cfg.setDefaults()
	c := &connection{
		cfg:      cfg,
		name:     cfg.Conn.RemoteAddr().String() + " -> " + cfg.Conn.LocalAddr().String(),
		since:    cfg.Clock.Now(),
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
	}
	c.alarm.over = make(chan struct{}, 1)
	c.log = cfg.Log.With().Str("conn", c.name).Logger()
	c.gate = message.NewGate(cfg.InFlightLimit)
	c.arrivals = cfg.Intake.Of(begun{c})
	c.writer.Conn, c.writer.Clock, c.writer.Timeout = cfg.Conn, cfg.Clock, cfg.SendTimeout
	c.writer.Lost, c.writer.Recover = func(err error) { c.post(&lost{err}) }, func() { c.recovered("writer", recover()) }
	c.outbox = outbox.NewDirect(cfg.OutboxLimit, func() { go c.writer.Run() }, c.writer.Direct())
	c.writer.Outbox = c.outbox
	if _, ok := cfg.Conn.(stream.Vectored); ok {
		c.outbox.Reference()
	}
	return c
}

// connection is the actor. The fields below the line belong to its turns; the reader and the writer use only those
// above.
type connection struct {
	cfg      Config
	name     string
	since    clock.Instant
	log      zerolog.Logger
	gate     *message.Gate
	arrivals *budget.Arrivals
	replies  atomic.Int64 // bytes of direct replies that wait in its channels
	outbox   *outbox.Outbox
	reader   reader
	writer   stream.Writer
	alarm    alarm
	self     *actor.PID
	root     *actor.RootContext
	turnover sync.Mutex    // held to send from a goroutine, and to close one of:
	stopping chan struct{} // closed on leaving running: channels get no more input
	done     chan struct{} // closed when the actor ends

	// ---
	state    state
	session  *session // nil until the handshake is done
	channels map[uint16]*link
	opens    map[uint16]*openChannel // waiting until the number is free
	serial   uint64                  // channels opened so far, for unique names
	end      ending
	leaving  bool // stops after its last channel
	// handedOver: another actor has the socket.
	handedOver bool
	heartbeat  heartbeat
	timer      *clock.Wait
	armed      uint64 // generation of the timer
}

// Receive implements actor.Actor.
func (c *connection) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		c.start(ctx)
	case *actor.Stopping:
		c.stop()
	case *actor.Terminated:
		c.root.Send(c.self, &mail.PeerGone{Who: m.Who})
		if c.leaving {
			c.leave(ctx)
		}
	case *opened:
		c.becomeRunning(ctx, m.session)
	case *openChannel:
		c.openChannel(ctx, m)
	case *method0:
		c.method0(ctx, m.method)
		m.handled <- struct{}{}
	case *failed:
		c.fail(ctx, m.err, m.outOfStep)
	case *lost:
		c.lost(ctx, m.err)
	case *otherProtocol:
		c.handOver(m)
	case *drained:
		c.drained()
	case *timerFired:
		c.timerFired(ctx, m)
	case *mail.ChannelClosed:
		c.channelClosed(ctx, m)
	case *mail.PeerGone:
		c.peerGone(ctx, m.Who)
	case *mail.CloseConnection:
		c.closeFor(ctx, m)
	case *mail.ConnectionReleased:
		c.released(ctx)
	case *mail.DescribeConnection:
		c.describe(m)
	case *mail.Block:
		c.block(m)
	case *heldUp:
		c.heldUp()
	case *mail.Unblock:
		c.unblock()
	}
}

// Private mail of the reader and the writer.
type (
	opened struct{ session *session }
	// failed: the peer violated the protocol. outOfStep: its bytes can no longer be split into frames.
	failed struct {
		err       error
		outOfStep bool
	}
	lost    struct{ err error } // the socket is unusable
	drained struct{}            // all output is written
	// otherProtocol: the client speaks AMQP 1.0; the reader has stopped, with these bytes read.
	otherProtocol struct{ read []byte }
	// method0 is a method of channel 0; the reader waits for handled.
	method0 struct {
		method  protocol.Method
		handled chan<- struct{}
	}
)

func (c *connection) start(ctx actor.Context) {
	c.self, c.root = ctx.Self(), ctx.ActorSystem().Root
	c.arm(c.cfg.HandshakeTimeout)
	c.reader.init(c)
	go c.reader.run()
}

// stop ends everything the actor has started. A panic here would restart it.
func (c *connection) stop() {
	defer func() {
		if reason := recover(); reason != nil {
			c.log.Error().Interface("panic", reason).Msg("while a connection stopped")
		}
	}()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.outbox.Close()
	c.leaveRunning()
	for id, l := range c.channels {
		c.discountChannel()
		connevents.Channel(c.cfg.Events, "channel.closed", c.session.by, id, l.pid.Id, c.info)
	}
	if c.session != nil {
		connevents.Closed(c.cfg.Events, c.session.by, c.self.Id, c.info)
	}
	clear(c.channels)
	c.turnover.Lock()
	close(c.done)
	c.turnover.Unlock()
	if !c.handedOver {
		_ = c.cfg.Conn.Close() // errors do not matter: the socket is abandoned
	}
	if c.session != nil && c.session.vhost.PID != nil && !c.end.released {
		c.root.Send(c.session.vhost.PID, &mail.ReleaseConnection{Connection: c.self})
	}
}

// handOver passes the socket to an actor for its protocol, and waits to be stopped.
func (c *connection) handOver(m *otherProtocol) {
	if c.state != starting || c.leaving {
		return
	}
	c.handedOver, c.state = true, closed
	c.arm(c.cfg.CloseTimeout)
	c.cfg.Handover(c.self, c.cfg.Conn, m.read)
}

// leave stops the actor after the channels that are about to stop themselves; the socket is closed without waiting
// for them.
func (c *connection) leave(ctx actor.Context) {
	c.leaving = true
	_ = c.cfg.Conn.Close()
	if len(ctx.Children()) == 0 {
		ctx.Stop(c.self)
	}
}

// post mails the actor from a goroutine or timer, unless it has ended.
func (c *connection) post(m any) {
	c.turnover.Lock()
	defer c.turnover.Unlock()
	if !isClosed(c.done) {
		c.root.Send(c.self, m)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// send appends a method on channel 0.
func (c *connection) send(m protocol.Method) { c.sendOn(0, m) }

func (c *connection) sendOn(channel uint16, m protocol.Method) {
	c.outbox.End(protocol.AppendMethodFrame(c.outbox.Begin(), channel, m))
}
