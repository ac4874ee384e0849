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

// Config configures a connection. Zero values of the numbers stand for
// the defaults named at them.
type Config struct {
	Conn          net.Conn
	Authenticator auth.Authenticator
	Permissions   auth.Permissions                          // nil lets every user into every vhost
	Quota         *auth.Quota                               // nil for no limits but ChannelMax
	VHost         func(name string) (*topology.VHost, bool) // false: there is none
	NewChannel    func(ChannelSpec) *actor.Props
	// Carry calls post, which sends mail, and then works on what mail there is for a bounded while; nil only calls it.
	Carry func(post func())
	// Handover takes over the socket of a client that speaks AMQP 1.0, with what was read of it, and stops self then. It must not
	// block. Nil: such clients are refused.
	Handover func(self *actor.PID, conn net.Conn, read []byte)
	Clock    *clock.Clock
	Log      zerolog.Logger
	Events   *events.Hub // told of the connection and its channels; nil for nobody

	Product        string   // our name in the server properties; Candlemark
	ProductVersion string   // our own version, for the server properties
	Capabilities   []string // announced to clients besides those that always hold

	HandshakeTimeout time.Duration // from accept to connection.open; 10 s
	CloseTimeout     time.Duration // for giving back, then for close-ok; 10 s
	// SendTimeout is how long a client may read nothing of what it is sent before
	// its socket is closed; 15 s, negative for ever. It may take a third longer.
	// Conn with TLS stands on a Patient, which goes by it.
	SendTimeout time.Duration
	ChannelMax  uint16 // channels at a time; 2047
	FrameMax    uint32 // bytes of a whole frame, at least 4096; 131072
	Heartbeat   uint16 // s, proposed to clients; 60
	NoHeartbeat bool   // propose none
	// InFlightLimit is how many bytes may be between socket and queues before
	// the reader stops reading; 4 MiB, and never less than four full reads.
	InFlightLimit int64
	// Valve holds publishers back when the broker is short of room; nil for none.
	Valve *budget.Valve
	// Intake bounds what clients have begun and not ended; nil for no bounds.
	Intake *budget.Intake
	// OutboxLimit is how many unwritten bytes channels may gather; 512 KiB.
	OutboxLimit int
}

// ChannelSpec describes a channel to be made.
type ChannelSpec struct {
	ID            uint16
	Connection    *actor.PID
	Name          string // of the connection
	Outbox        *outbox.Outbox
	Gate          *message.Gate
	Arrivals      *budget.Arrivals
	Replies       *atomic.Int64 // bytes of direct replies that wait
	FrameMax      uint32        // negotiated, bytes of a whole frame
	VHost         *topology.VHost
	User          auth.User
	Permissions   auth.Permissions // nil for the broker's
	Capabilities  Capabilities
	ClientProduct string         // client property "product", "" without one
	By            *events.Origin // nil for the broker itself
	// Log is that of the connection, which says whose it is; nil for the broker's.
	Log *zerolog.Logger
}

// Capabilities are those that the client announced.
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
