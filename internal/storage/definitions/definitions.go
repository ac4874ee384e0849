package definitions

import (
	"encoding/json"
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"
)

// Store keeps definitions. It is safe for concurrent use.
type Store interface {
	// Apply stores a change, all of it or nothing, and does not wait: done is called once, from a goroutine of the
	// store, when the change is durable or has failed. Changes are stored, and answered, in the order of the calls. The
	// revision belongs to the change; with an error the revision is meaningless, and nothing of the change is stored. The
	// caller must not alter values in the change afterwards.
	Apply(c Change, done func(revision uint64, err error))
	// Load reads everything stored.
	Load() (*Definitions, error)
	// Revision returns the revision of the newest durable change, 0 before the first. It grows by one with every change
	// and survives restarts.
	Revision() uint64
	// Close completes earlier changes and ends; later calls fail with ErrClosed.
	Close() error
}

// Change is a set of changes stored together. Values are auth.VHost, auth.Account, auth.Grant, auth.TopicGrant,
// Exchange, Queue, Binding, *policies.Policy, *changes.Change, Parameter, Global and, in Put, Incarnation and Journal,
// in Delete, Ended. Deletions come first; then Put replaces values of the same identity.
type Change struct {
	Put []any
	// Delete needs only the keys of the values. Missing values are ignored. Deleting a virtual host deletes everything
	// in it; deleting a queue or an exchange deletes its bindings.
	Delete []any
	// Entry is the place of the change in the log of a cluster; 0 without one. A change at or before the newest stored one is
	// answered and not stored again.
	Entry uint64
}

// Errors of Apply.
var (
	// ErrClosed: it was closed before the call.
	ErrClosed = errors.New("definitions are closed")
	// ErrNoVHost: the change puts an object into a virtual host that is not stored, because the virtual host was deleted
	// in the meantime.
	ErrNoVHost = errors.New("no such vhost")
)

// Definitions is everything stored, every list sorted by virtual host and names. It belongs to the caller.
type Definitions struct {
	Revision uint64
	// Incarnation is the highest incarnation that a stored queue has ever had, or that was put.
	Incarnation uint64
	// Ended are the incarnations of queues that were deleted, in that order, until they are in Change.Delete: the
	// journal may drop their messages. They are recorded together with the deletion, for any cause.
	Ended []uint64
	// Journal is the identity of the journal that has the messages of the queues; 0 before it was put.
	Journal uint64

	VHosts      []auth.VHost
	Accounts    []auth.Account
	Grants      []auth.Grant
	TopicGrants []auth.TopicGrant
	Exchanges   []Exchange
	Queues      []Queue
	Bindings    []Binding
	Policies    []*policies.Policy // operator policies too
	History     []*changes.Change  // the last changes of policies
	Parameters  []Parameter
	Globals     []Global
}

// Exchange is a durable exchange, identified by virtual host and name.
type Exchange struct {
	VHost, Name, Type    string
	AutoDelete, Internal bool
	Arguments            protocol.Table
	User                 string // who declared it, "" if that is not known or was the broker
}

// Queue is a durable queue, identified by virtual host and name.
type Queue struct {
	VHost, Name, Type string
	// Incarnation is its store.QueueID.
	Incarnation uint64
	AutoDelete  bool
	Arguments   protocol.Table
	// Ending is topology.Queue.Ending, "" for a queue that is not ending. A queue that is put with it loses its bindings.
	Ending string
	User   string // who declared it, "" if that is not known or was the broker
}

// Binding is a durable binding; it is identified by all of its fields but User, except the order of the arguments.
type Binding struct {
	VHost, Source, Destination string
	ToExchange                 bool // Destination is an exchange
	RoutingKey                 string
	Arguments                  protocol.Table
	User                       string // who made it, "" if that is not known or was the broker
}

// Parameter is a value of a component in a virtual host.
type Parameter = parameters.Parameter

// Incarnation raises Definitions.Incarnation to its value, for queues without a stored definition.
type Incarnation uint64

// Journal replaces Definitions.Journal.
type Journal uint64

// Ended removes an incarnation from Definitions.Ended: the journal has no more messages of it.
type Ended uint64

// Global is a value of the whole broker, identified by its name.
type Global struct {
	Name  string
	Value json.RawMessage
}
