package connection

import (
	"net"
	"sync/atomic"
	"time"

	"candlemark/internal/auth"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/stream"
	"candlemark/internal/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a connection. Zero numbers stand for the defaults named at the fields.
type Config struct {
	Conn          net.Conn
	Authenticator auth.Authenticator
	Permissions   auth.Permissions                          // nil allows every user every vhost
	Quota         *auth.Quota                               // nil for no limits but ChannelMax
	VHost         func(name string) (*topology.VHost, bool) // false if it does not exist
	NewChannel    func(ChannelSpec) *actor.Props
	// Carry calls post, which sends mail, and then handles pending mail for a bounded time; nil only calls post.
	Carry func(post func())
	// Handover passes the socket of a client that speaks AMQP 1.0 on, with the bytes read from it, and then stops
	// self. It must not block. Nil: such clients are refused.
	Handover func(self *actor.PID, conn net.Conn, read []byte)
	Clock    *clock.Clock
	Log      zerolog.Logger
	Events   *events.Hub // receives events of the connection and its channels; nil for none

	Product        string   // product in the server properties; Candlemark
	ProductVersion string   // version in the server properties
	Capabilities   []string // announced besides those that always hold

	HandshakeTimeout time.Duration // from accept to connection.open; 10 s
	CloseTimeout     time.Duration // for returning deliveries, then for close-ok; 10 s
	// SendTimeout is how long a client may read nothing that is sent to it before its socket is closed; 15 s,
	// negative for no limit. Detection may take a third longer. With TLS, Conn wraps a Patient, which applies it.
	SendTimeout time.Duration
	ChannelMax  uint16 // open channels; 2047
	FrameMax    uint32 // bytes of a whole frame, at least 4096; 131072
	Heartbeat   uint16 // s, proposed to clients; 60
	NoHeartbeat bool   // propose none
	// InFlightLimit is the number of bytes between socket and queues at which the reader stops; 4 MiB, and never less
	// than four full reads.
	InFlightLimit int64
	// Valve blocks publishers when the broker is short of a resource; nil for none.
	Valve *budget.Valve
	// Intake limits incomplete work of clients; nil for no limits.
	Intake *budget.Intake
	// OutboxLimit is the limit of unwritten bytes for channels; 512 KiB.
	OutboxLimit int
}

// ChannelSpec describes a channel to be created.
type ChannelSpec struct {
	ID            uint16
	Connection    *actor.PID
	Name          string // name of the connection
	Outbox        *outbox.Outbox
	Gate          *message.Gate
	Arrivals      *budget.Arrivals
	Replies       *atomic.Int64 // bytes of waiting direct replies
	FrameMax      uint32        // negotiated; bytes of a whole frame
	VHost         *topology.VHost
	User          auth.User
	Permissions   auth.Permissions // nil for the broker itself
	Capabilities  Capabilities
	ClientProduct string         // client property "product", "" without one
	By            *events.Origin // nil for the broker itself
	// Log is the connection's logger, with its fields; nil for the broker's.
	Log *zerolog.Logger
}

// Capabilities are the client's announced capabilities.
type Capabilities struct {
	ConsumerCancelNotify       bool
	BasicNack                  bool
	PublisherConfirms          bool
	ConnectionBlocked          bool
	AuthenticationFailureClose bool
}

func (cfg *Config) setDefaults() {
	if cfg.Carry == nil {
		cfg.Carry = func(post func()) { post() }
	}
	orElse(&cfg.Product, "Candlemark")
	orElse(&cfg.HandshakeTimeout, 10*time.Second)
	orElse(&cfg.CloseTimeout, 10*time.Second)
	orElse(&cfg.SendTimeout, stream.SendTimeout)
	orElse(&cfg.ChannelMax, 2047)
	orElse(&cfg.FrameMax, 131072)
	cfg.FrameMax = max(cfg.FrameMax, protocol.FrameMinSize)
	orElse(&cfg.Heartbeat, 60)
	if cfg.NoHeartbeat {
		cfg.Heartbeat = 0
	}
	orElse(&cfg.InFlightLimit, 4<<20)
	cfg.InFlightLimit = max(cfg.InFlightLimit, 4*(stream.LargestRead+int64(cfg.FrameMax)))
	orElse(&cfg.OutboxLimit, 512<<10)
}

func orElse[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}
