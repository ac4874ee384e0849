package lifecycle

import (
	"cmp"
	"net"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/stream"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Settings are the settings shared by connections of both protocols. Zero numbers stand for the defaults named at the
// fields.
type Settings struct {
	Conn          net.Conn
	Authenticator auth.Authenticator
	Permissions   auth.Permissions                          // nil allows every user every vhost
	Quota         *auth.Quota                               // nil for no limits except the number of channels or sessions
	VHost         func(name string) (*topology.VHost, bool) // false if it does not exist
	// Carry calls post, which sends mail, and then handles pending mail for a limited time. If it is nil, post is
	// called directly.
	Carry  func(post func())
	Clock  *clock.Clock // clients are told if it is a test clock (CLK-11)
	Log    zerolog.Logger
	Events *events.Hub // receives events of the connection and its channels or sessions; nil for none

	Node           string // name of the node, in errors
	ProductVersion string // version in the broker's properties

	HandshakeTimeout time.Duration // from accept to open; 10 s
	CloseTimeout     time.Duration // for returning deliveries, then for the client's answer to close; 10 s
	// SendTimeout is how long a client may read none of its output before its socket is closed; 15 s, negative for no
	// limit. Detection may take a third longer. With TLS, Conn wraps a Patient, which applies it.
	SendTimeout time.Duration
	FrameMax    uint32 // largest frame accepted, in bytes of the whole frame, at least 4096; 131072
	// InFlightLimit is the number of bytes between socket and queues at which the reader stops; 4 MiB, but never less
	// than four full reads.
	InFlightLimit int64
	// Valve blocks publishers when the broker is short of a resource; nil for none.
	Valve *budget.Valve
	// Intake limits incomplete work of clients; nil for no limits.
	Intake *budget.Intake
	// Unread limits the output that clients do not read; nil for no limit but OutboxLimit and the windows of consumers.
	Unread *budget.Unread
	// Objects limits what connections have open; nil for no limit.
	Objects *budget.Objects
	// OutboxLimit is the limit of unwritten bytes for channels or sessions; 512 KiB.
	OutboxLimit int
}

// SetDefaults replaces zero values.
func (s *Settings) SetDefaults() {
	if s.Carry == nil {
		s.Carry = func(post func()) { post() }
	}
	s.HandshakeTimeout = cmp.Or(s.HandshakeTimeout, 10*time.Second)
	s.CloseTimeout = cmp.Or(s.CloseTimeout, 10*time.Second)
	s.SendTimeout = cmp.Or(s.SendTimeout, stream.SendTimeout)
	s.FrameMax = max(cmp.Or(s.FrameMax, 131072), protocol.FrameMinSize)
	s.InFlightLimit = max(cmp.Or(s.InFlightLimit, 4<<20), 4*(stream.MaxRead+int64(s.FrameMax)))
	s.OutboxLimit = cmp.Or(s.OutboxLimit, 512<<10)
}
