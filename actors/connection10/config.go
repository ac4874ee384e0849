package connection10

import (
	"cmp"
	"net"
	"time"

	"candlemark/internal/auth"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/dialect/transactions"
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/servicebus/grants"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/stream"
	"candlemark/internal/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a connection. Zero numbers stand for the defaults named at the fields.
type Config struct {
	Conn          net.Conn
	Read          []byte // bytes read from Conn already
	Authenticator auth.Authenticator
	Permissions   auth.Permissions                          // nil allows every user every vhost
	Quota         *auth.Quota                               // nil for no limits but SessionMax
	VHost         func(name string) (*topology.VHost, bool) // false if it does not exist
	DefaultVHost  string                                    // for clients that name none; "/"
	NewSession    func(SessionSpec) *actor.Props
	Carry         func(post func()) // as for connections of 0-9-1; nil only calls post
	Clock         *clock.Clock
	Log           zerolog.Logger
	Events        *events.Hub   // receives events of the connection and its sessions; nil for none
	Statuses      *status.Table // statuses of Azure Service Bus entities; nil if all are active

	Container      string // the broker's container id
	ProductVersion string // version in the broker's properties

	HandshakeTimeout time.Duration // from accept to open; 10 s
	CloseTimeout     time.Duration // for returning deliveries, then for the client's close; 10 s
	SendTimeout      time.Duration // as for connections of 0-9-1; 15 s, negative for no limit
	SessionMax       uint16        // open sessions; 2047
	FrameMax         uint32        // largest frame accepted, in bytes; 131072
	// Silence is how many s a client may send nothing; 60. The idle time-out announced is half of that.
	Silence   uint16
	NoSilence bool // no limit

	InFlightLimit int64          // bytes between socket and queues at which reading stops; 4 MiB
	Valve         *budget.Valve  // blocks publishers; nil for none
	Intake        *budget.Intake // limits incomplete work of clients; nil for no limits
	OutboxLimit   int            // limit of unwritten bytes for sessions; 512 KiB
}

// SessionSpec describes a session to be created.
type SessionSpec struct {
	Channel    uint16 // number, in both directions
	Begin      Begin
	Connection *actor.PID
	Name       string // name of the connection
	Container  string // container-id of the client
	Outbox     *outbox.Outbox
	Gate       *message.Gate
	Arrivals   *budget.Arrivals
	FrameMax   uint32 // largest frame that the client accepts, in bytes
	VHost      *topology.VHost
	User       auth.User
	Peer       auth.Peer // the user and the address
	Tokens     *grants.Table
	// Transactions are the open ones.
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
	if cfg.Carry == nil {
		cfg.Carry = func(post func()) { post() }
	}
	cfg.DefaultVHost = cmp.Or(cfg.DefaultVHost, "/")
	cfg.Container = cmp.Or(cfg.Container, "candlemark")
	cfg.HandshakeTimeout = cmp.Or(cfg.HandshakeTimeout, 10*time.Second)
	cfg.CloseTimeout = cmp.Or(cfg.CloseTimeout, 10*time.Second)
	cfg.SendTimeout = cmp.Or(cfg.SendTimeout, stream.SendTimeout)
	cfg.SessionMax = cmp.Or(cfg.SessionMax, 2047)
	cfg.FrameMax = max(cmp.Or(cfg.FrameMax, 131072), protocol.FrameMinSize)
	cfg.Silence = cmp.Or(cfg.Silence, 60)
	if cfg.NoSilence {
		cfg.Silence = 0
	}
	cfg.InFlightLimit = max(cmp.Or(cfg.InFlightLimit, 4<<20), 4*(stream.LargestRead+int64(cfg.FrameMax)))
	cfg.OutboxLimit = cmp.Or(cfg.OutboxLimit, 512<<10)
}
