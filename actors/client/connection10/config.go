package connection10

import (
	"cmp"

	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"

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
	SessionMax uint16 // open sessions; 64
	// LinkMax is the maximum number of links of a session; 256. EntitySessionMax is SessionMax after a login with
	// ANONYMOUS: Azure Service Bus's SDKs begin a session for each link; 2047.
	LinkMax          uint32
	EntitySessionMax uint16
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
	Objects    *budget.Holder
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
	HandleMax                      uint32 // negotiated
}

func (cfg *Config) setDefaults() {
	cfg.SetDefaults()
	cfg.DefaultVHost = cmp.Or(cfg.DefaultVHost, "/")
	cfg.Container = cmp.Or(cfg.Container, "candlemark")
	cfg.SessionMax, cfg.EntitySessionMax = cmp.Or(cfg.SessionMax, 64), cmp.Or(cfg.EntitySessionMax, 2047)
	cfg.LinkMax = cmp.Or(cfg.LinkMax, 256)
	cfg.Node = cmp.Or(cfg.Node, "candlemark@localhost")
	cfg.Silence = cmp.Or(cfg.Silence, 60)
	if cfg.NoSilence {
		cfg.Silence = 0
	}
}
