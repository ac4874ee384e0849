package connection10

import (
	"candlemark/actors/client/connection10/transactions"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/servicebus/status"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// New returns the actor of one connection. It starts the handshake when it is spawned, and closes Conn when it ends.
// It must not be restarted.
func New(cfg Config) actor.Actor {
	cfg.setDefaults()
	c := &connection{cfg: cfg, begins: map[uint16]*beginSession{}}
	c.Init(&c.cfg.Settings, c, &c.reader.Reader, &words)
	return c
}

var words = lifecycle.Wording{
	Protocol: "AMQP 1-0", Logged: "AMQP 1.0", Children: "sessions", Child: "the session of channel",
	Silent: "missed frames from client within its idle time-out",
}

// connection is the actor. The fields below the line belong to its turns; the reader uses only the fields above.
type connection struct {
	lifecycle.Connection
	cfg    Config
	reader reader

	// ---
	peer    *peer                    // nil until the handshake is done
	begins  map[uint16]*beginSession // waiting until the channel is free
	err     *amqp10.Error            // error for the client; nil if the client closes
	asked   bool                     // the client has sent close
	blocked bool                     // sessions were informed of an alarm
	tokens  tokens
	work    transactions.Table
	patient *clock.Timer // for the first transaction to expire
	unwatch func()       // ends the watch of statuses, nil before the end of the handshake
}

// Private mail, mostly from the reader.
type (
	opened struct{ peer *peer }
	failed struct{ err error } // the peer violated the protocol
	// statusChanged: an entity of the virtual host has a new status.
	statusChanged struct{ path string }
	// clientClosed: the client sent close; the reader waits for handled.
	clientClosed struct{ handled chan<- struct{} }
)

// Receive implements actor.Actor.
func (c *connection) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *opened:
		c.becomeRunning(ctx, m.peer)
	case *beginSession:
		c.beginSession(ctx, m)
	case *clientClosed:
		c.clientClosed(ctx)
		m.handled <- struct{}{}
	case *failed:
		c.Fail(ctx, m.err)
	case *mail.ChannelClosed:
		c.sessionEnded(ctx, m)
	case *mail.PutToken:
		c.putToken(m)
	case *tokenDue:
		c.tokenDue()
	case *mail.DeclareTransaction, *mail.DischargeTransaction, *mail.StepTransactionReply, *mail.AbandonTransactions, *transactionDue:
		transact(c, m)
	case *statusChanged:
		c.announceAccess(status.Scopes(m.path)...)
	default:
		c.Handle(ctx)
	}
}

// Read implements lifecycle.Protocol.
func (c *connection) Read() {
	c.reader.init(c)
	go c.reader.run()
}

// Heartbeat implements lifecycle.Protocol.
func (c *connection) Heartbeat(b []byte) []byte { return amqp10.AppendHeartbeat(b) }

// Alarmed implements lifecycle.Protocol: sessions close their windows.
func (c *connection) Alarmed() {
	if blocked := c.Alarm.Reason != ""; blocked != c.blocked {
		c.blocked = blocked
		for _, l := range c.Children {
			c.tellAlarm(l)
		}
	}
}

// tellAlarm informs a session about an alarm or its end.
func (c *connection) tellAlarm(l *lifecycle.Child) {
	if c.blocked {
		c.Root.Send(l.PID, &mail.Block{Reason: c.Alarm.Reason})
	} else {
		c.Root.Send(l.PID, &mail.Unblock{})
	}
}

// Stop implements lifecycle.Protocol.
func (c *connection) Stop() {
	c.tokens.stop()
	stopTransactions(c)
	if c.unwatch != nil {
		c.unwatch()
	}
}

// send appends a frame on channel 0.
func (c *connection) send(p amqp10.Composite) {
	c.Outbox.End(amqp10.AppendFrame(c.Outbox.Begin(), 0, p))
}
