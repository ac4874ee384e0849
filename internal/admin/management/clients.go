package management

import (
	"context"

	"candlemark/internal/access/auth"
	"candlemark/internal/measure/metrics"
	"candlemark/protocol"
)

// Clients is the part of the broker for connections, channels and consumers.
type Clients interface {
	// Connections describes the open connections, from their connection.open-ok to their last word, sorted by name; or, if
	// a name is given, the connection with that name.
	Connections(ctx context.Context, name string) ([]Connection, error)
	// CloseConnection closes the connection of that name with CONNECTION_FORCED and the reason. Found reports whether
	// there was one. It does not wait for the end.
	CloseConnection(ctx context.Context, name, reason string) (found bool, err error)
	// CloseConnectionsOf closes all connections of a user in this way.
	CloseConnectionsOf(ctx context.Context, user, reason string) error
	// Channels describes all channels of those connections, in their order.
	Channels(ctx context.Context, connection string) ([]Channel, error)
	// ChannelNumbered describes one channel, and its consumers.
	ChannelNumbered(ctx context.Context, connection string, number int) (c Channel, consumers []Consumer, found bool, err error)
	// Consumers describes the consumers of the queues of a vhost, of all vhosts for "".
	Consumers(ctx context.Context, vhost string) ([]Consumer, error)
}

// Connection describes a connection.
type Connection struct {
	Name              string // "127.0.0.1:1234 -> 127.0.0.1:5672"
	VHost, User       string
	State             string // "running" or "closing"
	Protocol          string // "AMQP 0-9-1"
	Mechanism         string // of the login
	Host, PeerHost    string // IP addresses
	Port, PeerPort    int
	Channels          int
	ChannelMax        int // 0 for any number
	FrameMax          int // bytes, 0 for any size
	Heartbeat         int // s, 0 for none
	ConnectedAt       int64
	ClientProperties  protocol.Table
	BytesIn, BytesOut uint64
	Reads, Writes     uint64        // system calls
	Memory            int64         // bytes of what it has open (PRO-21), and of output that the client has not read (PRO-20)
	TLS               *auth.TLSInfo // nil without
}

// Channel describes a channel.
type Channel struct {
	Connection                      *Connection
	Number                          int
	VHost, User                     string
	State                           string // "running" or "closing"
	Confirm                         bool
	Prefetch, GlobalPrefetch        int // 0 for none
	Consumers, Unacked, Unconfirmed int
	// Of a transaction that is not committed.
	Transactional                bool
	Uncommitted, AcksUncommitted int
	Counts                       Counts
	Published                    metrics.Published
	Queues                       []string // that it has consumers of; of one channel only
	IdleSince                    int64    // wall ms
	Session                      *Session // of AMQP 1.0; nil for a channel of 0-9-1
}

// Session is the flow control of a session of AMQP 1.0, and its links.
type Session struct {
	HandleMax                                                            uint32
	NextIncomingID, IncomingWindow, NextOutgoingID, RemoteIncomingWindow uint32
	Links                                                                []Link // by handle
}

// Link describes a link.
type Link struct {
	Handle                uint32
	Name, Address         string
	Receiver              bool   // the client receives on it
	Queue                 string // that it receives from
	Settled               bool   // what it receives is settled when it is sent
	DeliveryCount, Credit uint32
	Unsettled             int // messages delivered on it and not settled
}

// Consumer describes a consumer.
type Consumer struct {
	VHost, Queue, Tag string
	// Connection is nil if it has just gone.
	Connection *Connection
	Channel    int
	NoAck      bool
	Exclusive  bool
	Active     bool // false for one that waits behind a single active consumer
	Prefetch   int
	Timeout    int64 // ms until a delivery must be acknowledged; negative for no limit
	Arguments  protocol.Table
}
