package connection10

import (
	"sync"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/connection10/transactions"
	"candlemark/actors/mail"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/stream"
	"candlemark/protocol/amqp10"

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
		links:    map[uint16]*link{},
		begins:   map[uint16]*beginSession{},
	}
	c.alarmOver = make(chan struct{}, 1)
	c.log = cfg.Log.With().Str("conn", c.name).Logger()
	c.gate = message.NewGate(cfg.InFlightLimit)
	c.arrivals = cfg.Intake.Of(begun{c})
	w := &c.writer
	w.Conn, w.Clock, w.Timeout = cfg.Conn, cfg.Clock, cfg.SendTimeout
	w.Lost, w.Recover = func(err error) { c.post(&lost{err}) }, func() { c.recovered("writer", recover()) }
	c.outbox = outbox.NewDirect(cfg.OutboxLimit, func() { go w.Run() }, w.Direct())
	w.Outbox = c.outbox
	if _, ok := cfg.Conn.(stream.Vectored); ok {
		c.outbox.Reference()
	}
	return c
}

// connection is the actor. The fields below the line belong to its turns; the reader and the writer use only those
// above.
type connection struct {
	cfg       Config
	name      string
	since     clock.Instant
	log       zerolog.Logger
	gate      *message.Gate
	arrivals  *budget.Arrivals
	outbox    *outbox.Outbox
	reader    reader
	writer    stream.Writer
	alarmOver chan struct{} // capacity 1: a token means "check again"
	self      *actor.PID
	root      *actor.RootContext
	turnover  sync.Mutex    // held to send from a goroutine, and to close one of:
	stopping  chan struct{} // closed on leaving running: sessions get no more input
	done      chan struct{} // closed when the actor ends

	// ---
	state   state
	peer    *peer // nil until the handshake is done
	links   map[uint16]*link
	begins  map[uint16]*beginSession // waiting until the channel is free
	serial  uint64                   // sessions begun so far, for unique names
	end     ending
	leaving bool   // stops after its last session
	reason  string // reason of the alarm, "" for none
	held    bool   // blocked by it: the client has published
	pulse   pulse
	tokens  tokens
	work    transactions.Table
	patient *clock.Timer // for the first transaction to expire
	unwatch func()       // ends the watch of statuses, nil before the end of the handshake
	timer   *clock.Wait
	armed   uint64 // generation of the timer
}

// Private mail of the reader and the writer.
type (
	opened  struct{ peer *peer }
	failed  struct{ err error } // the peer violated the protocol
	lost    struct{ err error } // the socket is unusable
	drained struct{}            // all output is written
	// statusChanged: an entity of the virtual host has a new status.
	statusChanged struct{ path string }
	heldUp        struct{} // a publish during an alarm: reading has stopped
	// clientClosed: the client sent close; the reader waits for handled.
	clientClosed struct{ handled chan<- struct{} }
)

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
		c.becomeRunning(ctx, m.peer)
	case *beginSession:
		c.beginSession(ctx, m)
	case *clientClosed:
		c.clientClosed(ctx)
		m.handled <- struct{}{}
	case *failed:
		c.fail(ctx, m.err)
	case *lost:
		c.lost(ctx, m.err)
	case *drained: // the client has to close the socket
		c.arm(min(grace, c.cfg.CloseTimeout))
	case *timerFired:
		c.timerFired(ctx, m)
	case *mail.ChannelClosed:
		c.sessionEnded(ctx, m)
	case *mail.PeerGone:
		c.peerGone(ctx, m.Who)
	case *mail.CloseConnection:
		c.closeFor(ctx, m)
	case *mail.ConnectionReleased:
		if c.state == closing {
			c.becomeClosed(ctx)
		}
	case *mail.PutToken:
		c.putToken(m)
	case *tokenDue:
		c.tokenDue()
	case *mail.DeclareTransaction, *mail.DischargeTransaction, *mail.TransactionStepped, *mail.AbandonTransactions, *transactionDue:
		transact(c, m)
	case *statusChanged:
		c.tellAccess(status.Scopes(m.path)...)
	case *mail.DescribeConnection:
		c.describe(m)
	case *mail.Block:
		c.reason = m.Reason
	case *heldUp:
		c.held = c.reason != "" || c.cfg.Valve.Shut()
	case *mail.Unblock:
		c.reason, c.held = "", false
		select {
		case c.alarmOver <- struct{}{}:
		default:
		}
	}
}

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
	c.tokens.stop()
	stopTransactions(c)
	if c.unwatch != nil {
		c.unwatch()
	}
	c.outbox.Close()
	c.leaveRunning()
	for id, l := range c.links {
		c.discountSession()
		connevents.Channel(c.cfg.Events, "channel.closed", c.peer.by, id, l.pid.Id, c.info)
	}
	if c.peer != nil {
		connevents.Closed(c.cfg.Events, c.peer.by, c.self.Id, c.info)
	}
	clear(c.links)
	c.turnover.Lock()
	close(c.done)
	c.turnover.Unlock()
	_ = c.cfg.Conn.Close() // errors do not matter: the socket is abandoned
	if c.peer != nil && c.peer.vhost.PID != nil && !c.end.released {
		c.root.Send(c.peer.vhost.PID, &mail.ReleaseConnection{Connection: c.self})
	}
}

// leave stops the actor after the sessions that are about to stop themselves; the socket is closed without waiting
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

// send appends a frame on channel 0.
func (c *connection) send(p amqp10.Composite) {
	c.outbox.End(amqp10.AppendFrame(c.outbox.Begin(), 0, p))
}

// recovered turns a panic of a goroutine into the end of the connection rather than of the broker.
func (c *connection) recovered(who string, reason any) {
	if reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
