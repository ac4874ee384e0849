package management

import (
	"context"

	"candlemark/protocol"
)

// Topology is the part of the broker about exchanges and bindings.
type Topology interface {
	// Exchanges returns the exchanges of a vhost, of all for "", sorted by vhost and name, the default exchange first.
	Exchanges(ctx context.Context, vhost string) ([]Exchange, error)
	// Exchange describes one; nil if it does not exist.
	Exchange(ctx context.Context, vhost, name string) (*Exchange, error)
	// Bindings returns the bindings that the filter lets through, sorted by vhost, source, kind of destination,
	// destination, and key. Every queue is bound to the default exchange by its name (DEC-10).
	Bindings(ctx context.Context, f BindingFilter) ([]Binding, error)
	// Flow returns where queues of a vhost send messages on to. name is a part of the name of such a queue, or of what
	// it leads to at once, without regard to case; "" for all. Error: that there is no such vhost.
	Flow(ctx context.Context, vhost, name string) (Flow, error)
}

// Exchange describes an exchange.
type Exchange struct {
	VHost, Name, Type             string
	Durable, AutoDelete, Internal bool
	// Permanent exchanges are part of the virtual host and cannot be deleted; to and from System ones clients bind nothing, either.
	Permanent, System bool
	Arguments         protocol.Table
	Policy            string // user policy that matches, "" for none
	In, Out           uint64 // messages that clients have published to it, and copies of them in queues
	Delayed           *int   // messages that a delayed exchange or a topic holds (DLY-5, DLY-15); nil for any other one
	DelayedBytes      int64  // of their bodies
	Skipped           uint64 // messages for which not all of its bindings were evaluated (DEC-19)
	LastUse           int64  // wall ms of the last publish, 0 for none since the start
}

// Binding describes a binding.
type Binding struct {
	VHost, Source, Destination string
	ToExchange                 bool
	RoutingKey                 string
	Arguments                  protocol.Table
	FromTopic                  bool // the source is a topic exchange, where topic permissions count
	Locked                     bool // it leads to a queue that belongs to a connection, which alone changes it
}

// BindingFilter chooses bindings; nil fields match all.
type BindingFilter struct {
	VHost, Source, Destination *string
	ToExchange                 *bool
}
