package session10

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/access/sas"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"

	"github.com/rs/zerolog"
)

// This part holds the configuration of a session: what it shares with its connection, and the values of the
// client's begin.
//
// Deadlines: none. A restart loses nothing.

// config configures a session.
type config struct {
	Channel        uint16 // number, in both directions
	Connection     mail.Address
	ConnectionName string
	Container      string // container-id of the client
	Node           string // name of the broker, for clients
	Outbox         *outbox.Outbox
	Gate           *message.Gate
	Arrivals       *budget.Arrivals // the connection's; nil for no limit
	Copies         *budget.Copies   // permits messages for several queues while publishers wait; nil for no limit
	Unread         *budget.Output   // the connection's; nil for no limit
	Objects        *budget.Holder   // the connection's, charged with links and with what the session knows of queues; nil for no limit
	FrameMax       uint32           // largest frame that the client accepts, in bytes
	// NextOutgoingID and IncomingWindow are the values in the client's begin, HandleMax is the negotiated one.
	NextOutgoingID, IncomingWindow, HandleMax uint32

	VHost       *topology.VHost
	User        auth.User
	By          *events.Origin
	Events      *events.Hub // receives events of consumers; nil for none
	Permissions auth.Permissions
	// Token checks a token of Azure Service Bus and returns its user. It may block. Nil if there are no tokens.
	Token        func(text string) (auth.User, sas.Token, error)
	Tokens       *grants.Table       // the connection's; nil for none
	Statuses     *status.Table       // of entities; nil if all are active
	Transactions *transactions.Known // of the connection
	MaxMessage   uint64              // largest message in bytes, with its properties
	// MaxEntityMessage is the largest message or batch to an entity of Azure Service Bus that sets no maximum, in bytes.
	MaxEntityMessage uint64
	Clock            *clock.Clock
	Log              zerolog.Logger
	// Ended, unless nil, is called at the end of the session with its virtual host and counts.
	Ended func(vhost string, counts mail.Counts, more *metrics.Published)
	// Post sends mail from any goroutine.
	Post func(to mail.Address, what any)
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
}
