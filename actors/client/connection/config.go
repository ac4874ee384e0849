package connection

import (
	"cmp"
	"net"
	"sync/atomic"

	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a connection. Zero numbers stand for the defaults named at the fields.
type Config struct {
	lifecycle.Settings
	NewChannel func(ChannelSpec) *actor.Props
	// Handover passes on the socket of a client that speaks AMQP 1.0, with the bytes read from it, and then stops self.
	// It must not block. If nil, such clients are refused.
	Handover func(self mail.Address, conn net.Conn, read []byte)

	Product      string   // product in the server properties; Candlemark
	ClusterName  string   // cluster_name in the server properties
	Capabilities []string // announced besides alwaysCapable
	ChannelMax   uint16   // open channels; 2047
	Heartbeat    uint16   // s, proposed to clients; 60
	NoHeartbeat  bool     // propose no heartbeats
}

// ChannelSpec describes a channel to be created.
type ChannelSpec struct {
	ID            uint16
	Connection    mail.Address
	Name          string // name of the connection
	Outbox        *outbox.Outbox
	Gate          *message.Gate
	Arrivals      *budget.Arrivals
	Unread        *budget.Output
	Replies       *atomic.Int64 // bytes of waiting direct replies
	Objects       *budget.Holder
	FrameMax      uint32 // negotiated; bytes of a whole frame
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
	cfg.SetDefaults()
	cfg.Product = cmp.Or(cfg.Product, "Candlemark")
	cfg.ChannelMax = cmp.Or(cfg.ChannelMax, 2047)
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 60)
	if cfg.NoHeartbeat {
		cfg.Heartbeat = 0
	}
}
