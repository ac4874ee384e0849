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

// New returns the actor. It needs a mailbox of package actors/system/mailbox.
func New(cfg Config) actor.Actor {
	s := &state{}
	s.init(cfg)
	return shell.New(s, &s.mail, &s.in, shell.Config{
		Clock: cfg.Clock, Close: cfg.Close, Ended: cfg.Ended, VHost: cfg.VHost.Name, BeforeMail: func() { s.sendConfirms() }, AfterMail: s.sendClose,
	})
}

// internalError returns the connection exception for a failure of the broker (541).
func internalError(format string, args ...any) error {
	return protocol.ConnectionErrorf(protocol.InternalError, format, args...)
}
