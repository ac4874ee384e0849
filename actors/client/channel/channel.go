package channel

import (
	"sync/atomic"

	"candlemark/actors/client/shell"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a channel.
type Config struct {
	ID         uint16
	Connection mail.Address
	// ConnectionName and Node describe the origin of traced messages.
	ConnectionName, Node string
	Outbox               *outbox.Outbox
	Gate                 *message.Gate
	Arrivals             *budget.Arrivals // the connection's; nil for no limit
	Copies               *budget.Copies   // permits publishes for several queues while publishers wait; nil for no limit
	Unread               *budget.Output   // the connection's; nil for no limit
	// Replies counts the bytes of waiting direct replies over all channels of the connection; nil to count for this
	// channel only.
	Replies *atomic.Int64
	// Objects of the connection are charged with consumers and with what the channel knows of queues; nil for no limit.
	Objects  *budget.Holder
	FrameMax uint32 // bytes, 0 for no limit
	VHost    *topology.VHost
	User     auth.User
	// By identifies the client in events about its changes; nil for the broker itself.
	By *events.Origin
	// Events receives events of consumers and purges; nil for none.
	Events *events.Hub
	// ClientProduct is the client property product, see quirks.
	ClientProduct string
	// CancelNotify: the client wants basic.cancel when a consumer ends (LEASE-9).
	CancelNotify bool
	Permissions  auth.Permissions
	MaxMessage   uint64 // largest body in bytes
	MaxConsumers int    // maximum number of consumers, including one of direct replies; 0 for no limit
	Clock        *clock.Clock
	Log          zerolog.Logger
	// Ended, unless nil, is called at the end of the channel with its virtual host and counts.
	Ended func(vhost string, counts mail.Counts, more *metrics.Published)
	// Post sends mail from any goroutine.
	Post func(to mail.Address, m any)
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
}

// channel is the shell.
type channel struct {
	state
	timer shell.Guard
}

// awaitExpired: the command with this number was not answered in time.
type awaitExpired struct{ id uint64 }

// New returns the actor. It needs a mailbox of package actors/system/mailbox.
func New(cfg Config) actor.Actor {
	c := &channel{}
	c.init(cfg)
	return c
}

// Receive handles one mail.
func (c *channel) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		c.Me = ctx.Self()
	case *actor.Stopping, *actor.Restarting:
		c.abort()
		c.peers.Unwatch()
		shell.WatchOver(ctx, &c.Mail)
	case *actor.Stopped:
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	default:
		c.handle(m)
		c.carryOut(ctx)
	}
}

// carryOut sends the mail of the turn, in order.
func (c *channel) carryOut(ctx actor.Context) {
	c.sendConfirms()
	shell.Send(ctx, &c.Mail)
	c.sendClose()
	shell.WatchOver(ctx, &c.Mail)
	if c.long != nil && c.long.Long != nil && !c.long.begun {
		c.long.begun = true
		go c.long.find(ctx.Self(), c.cfg.Post)
	}
	if c.phase == ended {
		c.end(ctx)
		return
	}
	c.guard(ctx)
}

// guard keeps a timer running while a command waits.
func (c *channel) guard(ctx actor.Context) {
	var id uint64
	if c.await != nil && !c.await.patient {
		id = c.await.id
	}
	c.timer.Set(ctx, c.cfg.Clock, id, func(id uint64) any { return awaitExpired{id} })
}

// end closes the mailbox and stops the actor; mail left in it needs no answer.
func (c *channel) end(ctx actor.Context) {
	c.abort()
	ctx.Stop(ctx.Self())
}

// abort returns the credit of mail that will no longer be handled, including the mail that caused a panic: mail stays
// parked or held while it is handled. After a panic the watches of the queues and the connection report that the
// channel is gone.
func (c *channel) abort() {
	defer func() { _ = recover() }()
	c.timer.Stop()
	c.phase = ended
	if c.cfg.Ended != nil {
		c.cfg.Ended(c.cfg.VHost.Name, c.counted(), &c.published)
		c.cfg.Ended = nil
	}
	left := c.cfg.Close()
	for _, m := range c.parked {
		left = append(left, m)
	}
	c.parked = nil
	c.replies.End()
	if m := c.replies.InHand(); m != nil {
		left = append(left, m)
	}
	shell.Release(left, c.cfg.Post)
	c.long.stop()
	c.long = nil
	c.output.Drop()
	c.dropBegun()
	c.batches.Release()
	c.unread.Close()
}

// internalError returns the connection exception for a failure of the broker (541).
func internalError(format string, args ...any) error {
	return protocol.ConnectionErrorf(protocol.InternalError, format, args...)
}
