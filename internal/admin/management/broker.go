package management

import (
	"context"
	"net"
	"time"

	"candlemark/policies"
	"candlemark/policies/changes"
)

// Broker is the part of the broker that the API needs. supervision.Node.API returns it.
//
// Errors: a *protocol.ChannelError with code NotFound for an object that does
// not exist, other errors of the protocol for refusals, and the cause that ended ctx. Anything else is the broker's own
// failure and answered with 500. Questions change nothing and renew no lease (LEASE-4).
type Broker interface {
	Policies
	PolicyEffects
	Queues
	Topology
	Clients
	Commands
	Messages
	Moves
	Host
	Definitions
	Shovels
	Schedules
	Monitoring
	Backups
	Cluster
	Process
	Sockets
	TestClock
	// VHosts returns the names of all virtual hosts, sorted.
	VHosts(ctx context.Context) ([]string, error)
	// Overview describes the broker as a whole.
	Overview(ctx context.Context) (Overview, error)
}

// Sockets is the part of the broker that takes connections of AMQP from elsewhere than its listeners.
type Sockets interface {
	// Patient makes of a socket one whose writes take as long as the peer reads something.
	Patient(socket net.Conn) net.Conn
	// Connect makes a connection one of AMQP, as if it had been accepted, or closes it when there are too many.
	Connect(conn net.Conn)
}

// Policies is the part of the broker that keeps policies.
type Policies interface {
	// SetPolicy stores p, a user policy or with p.Operator an operator policy, and returns when it is in force
	// (PRO-15). Replaced reports whether there was one of that name. The vhost exists.
	SetPolicy(ctx context.Context, p *policies.Policy) (replaced bool, err error)
	// SetPolicies stores policies and operator policies of one vhost in one change,
	// which looks once at all its queues, and returns when they are in force.
	SetPolicies(ctx context.Context, vhost string, all []*policies.Policy) error
	// ClearPolicy removes a policy and returns when it no longer applies to anything. Found reports whether there was
	// one.
	ClearPolicy(ctx context.Context, vhost, name string, operator bool) (found bool, err error)
	// ListPolicies returns the policies of a vhost, of all for "", sorted as
	// POL-13 says.
	ListPolicies(ctx context.Context, vhost string, operator bool) ([]*policies.Policy, error)
}

// PolicyEffects is the part of the broker for the effects of policies.
type PolicyEffects interface {
	// ExplainPolicies explains which policies apply to a queue, or to an exchange. Error: one with code NotFound.
	ExplainPolicies(ctx context.Context, vhost, name string, exchange bool) (policies.Explanation, error)
	// PreviewPolicy returns the effects of setting p now, or of clearing one of its name and kind, without a change.
	// Found reports whether there is one of that name. Previews are made one at a time.
	PreviewPolicy(ctx context.Context, p *policies.Policy, clear bool) (preview *changes.Preview, found bool, err error)
	// PolicyHistory has the last changes of the policies of a virtual host.
	PolicyHistory(ctx context.Context, vhost string) (changes.Log, error)
	// UndoPolicyChange undoes a change and returns when the undo is in force (PRO-15), with its own number in the history.
	// operators permits changes of operator policies. Errors: as for changes.Log.Undo.
	UndoPolicyChange(ctx context.Context, vhost string, id uint64, operators bool) (change uint64, err error)
}

// Overview describes the broker as a whole.
type Overview struct {
	Node           string // "rabbit@host"
	ClusterName    string
	ProductVersion string // Candlemark's own
	Listeners      []Listener

	Connections, Channels, Consumers, Exchanges, Queues int
	// Ready and Unacked are messages in all queues.
	Ready, Unacked int
	// Counts covers all channels since the broker started.
	Counts Counts
	Churn  Churn
	// DiskReads and DiskWrites are messages read from and written to the journal since the broker started.
	DiskReads, DiskWrites uint64
	// VHosts has what clients do in each virtual host; one without clients may be missing.
	VHosts map[string]Traffic
}

// Traffic counts for clients of a virtual host.
type Traffic struct {
	Counts            Counts // of all channels since the broker started
	BytesIn, BytesOut uint64 // of open connections
	Held              int    // messages in delayed exchanges and topics
}

// Churn counts what came and went since the broker started. QueuesDeclared counts created queues, which clients of HTTP
// also see as declared.
type Churn struct {
	ConnectionsOpened, ConnectionsClosed, ChannelsOpened, ChannelsClosed uint64
	QueuesDeclared, QueuesDeleted                                        uint64
}

// Listener is one open port of the broker.
type Listener struct {
	Protocol string // "amqp", "amqp/ssl", "http"
	Address  string // an IP address, "127.0.0.1"
	Port     int
	// Expires is when its certificate, or one that vouches for it, does; zero
	// without TLS.
	Expires time.Time
}
