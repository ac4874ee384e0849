package connection10

import (
	"cmp"

	"candlemark/actors/connection/lifecycle"
	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/budget"
	"candlemark/internal/dialect/transactions"
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/servicebus/grants"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a connection. Zero numbers stand for the defaults named at the fields.
type Config struct {
	lifecycle.Settings
	Read         []byte // bytes already read from Conn
	DefaultVHost string // for clients that do not name one; "/"
	NewSession   func(SessionSpec) *actor.Props
	Statuses     *status.Table // statuses of Azure Service Bus entities; nil if all are active

	Container  string // the broker's container id, the name of the cluster
	Node       string // name of the node
	SessionMax uint16 // open sessions; 2047
	// Silence is how long, in s, a client may send nothing; 60. The announced idle time-out is half of that.
	Silence   uint16
	NoSilence bool // no limit
}

// SessionSpec describes a session to be created.
type SessionSpec struct {
	Channel    uint16 // number, in both directions
	Begin      Begin
	Connection mail.Address
	Name       string // name of the connection
	Container  string // container-id of the client
	Outbox     *outbox.Outbox
	Gate       *message.Gate
	Arrivals   *budget.Arrivals
	Unread     *budget.Output
	FrameMax   uint32 // largest frame that the client accepts, in bytes
	VHost      *topology.VHost
	User       auth.User
	Peer       auth.Peer // the user and the address
	Tokens     *grants.Table
	// Transactions are the connection's open transactions.
	Transactions *transactions.Known
	By           *events.Origin
	Log          *zerolog.Logger
}

// Begin holds the fields of the client's begin for the session.
type Begin struct {
	NextOutgoingID                 uint32
	IncomingWindow, OutgoingWindow uint32 // transfers
	HandleMax                      uint32
}

func (cfg *Config) setDefaults() {
	cfg.SetDefaults()
	cfg.DefaultVHost = cmp.Or(cfg.DefaultVHost, "/")
	cfg.Container = cmp.Or(cfg.Container, "candlemark")
	cfg.SessionMax = cmp.Or(cfg.SessionMax, 2047)
	cfg.Silence = cmp.Or(cfg.Silence, 60)
	if cfg.NoSilence {
		cfg.Silence = 0
	}
}
