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

// Config configures a connection. Zero values of the numbers stand for
// the defaults named at them.
type Config struct {
	Conn          net.Conn
	Read          []byte // what was read of Conn already
	Authenticator auth.Authenticator
	Permissions   auth.Permissions                          // nil lets every user into every vhost
	Quota         *auth.Quota                               // nil for no limits but SessionMax
	VHost         func(name string) (*topology.VHost, bool) // false: there is none
	DefaultVHost  string                                    // of clients that name none; "/"
	NewSession    func(SessionSpec) *actor.Props
	Carry         func(post func()) // as connections of 0-9-1 have it; nil only calls post
	Clock         *clock.Clock
	Log           zerolog.Logger
	Events        *events.Hub   // told of the connection and its sessions; nil for nobody
	Statuses      *status.Table // of entities of Azure Service Bus; nil if all are active

	Container      string // our container id
	ProductVersion string // our own version, for the properties

	HandshakeTimeout time.Duration // from accept to open; 10 s
	CloseTimeout     time.Duration // for giving back, then for the client's close; 10 s
	SendTimeout      time.Duration // as connections of 0-9-1 have it; 15 s, negative for ever
	SessionMax       uint16        // sessions at a time; 2047
	FrameMax         uint32        // bytes of the largest frame that we take; 131072
	// Silence is how many s a client may say nothing; 60. It is told half of that.
	Silence   uint16
	NoSilence bool // as long as it likes

	InFlightLimit int64          // bytes between socket and queues from which on nothing is read; 4 MiB
	Valve         *budget.Valve  // holds publishers back; nil for none
	Intake        *budget.Intake // bounds what clients have begun and not ended; nil for no bounds
	OutboxLimit   int            // bytes that sessions may gather unwritten; 512 KiB
}

// SessionSpec describes a session to be made.
type SessionSpec struct {
	Channel    uint16 // number, of both directions
	Begin      Begin
	Connection *actor.PID
	Name       string // of the connection
	Outbox     *outbox.Outbox
	Gate       *message.Gate
	Arrivals   *budget.Arrivals
	FrameMax   uint32 // bytes of the largest frame that the client takes
	VHost      *topology.VHost
	User       auth.User
	Peer       auth.Peer // who has logged in from where
	Tokens     *grants.Table
	// Transactions are those that are open.
	Transactions *transactions.Known
	By           *events.Origin
	Log          *zerolog.Logger
}

// Begin has those fields of the client's begin that concern the session.
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
