package admin

import (
	"context"

	"candlemark/policies"
	"candlemark/protocol"
)

// Broker is what the API asks of the broker. supervision.Node satisfies it.
//
// Errors: a *protocol.ChannelError with code NotFound for an object that does
// not exist, other errors of the protocol for what is refused, and whatever
// ended ctx. Anything else is the broker's own failure and answered with 500.
// Questions change nothing and renew no lease (LEASE-4).
type Broker interface {
	Policies
	Queues
	// VHosts returns the names of all virtual hosts, sorted.
	VHosts(ctx context.Context) ([]string, error)
	// Overview describes the broker as a whole.
	Overview(ctx context.Context) (Overview, error)
}

// Policies is the part of the broker that keeps policies.
type Policies interface {
	// SetPolicy stores p, a user policy or with p.Operator an operator policy,
	// and returns when it is in force (DESIGN §5a.15). Replaced tells whether
	// there was one of that name. The vhost exists.
	SetPolicy(ctx context.Context, p *policies.Policy) (replaced bool, err error)
	// ClearPolicy removes a policy and returns when nothing obeys it any more.
	// Found tells whether there was one.
	ClearPolicy(ctx context.Context, vhost, name string, operator bool) (found bool, err error)
	// ListPolicies returns the policies of a vhost, of all for "", sorted as
	// POL-13 says.
	ListPolicies(ctx context.Context, vhost string, operator bool) ([]*policies.Policy, error)
}

// Queues is the part of the broker that knows queues.
type Queues interface {
	// Queues describes the queues of a vhost, of all for "", sorted by vhost
	// and name. Queues that end meanwhile are left out.
	Queues(ctx context.Context, vhost string) ([]Queue, error)
	// Queue describes one.
	Queue(ctx context.Context, vhost, name string) (Queue, error)
}

// Queue is what the API shows of a queue.
type Queue struct {
	VHost, Name, Type              string // Type is "classic", "quorum" or "stream"
	Durable, AutoDelete, Exclusive bool
	// Arguments are the declared ones, nothing merged in (POL-11).
	Arguments protocol.Table
	Effective policies.Effective
	// Ready and Unacked are messages, ReadyBytes the bytes of the ready ones'
	// bodies.
	Ready, Unacked int
	ReadyBytes     int64
	Consumers      int
	// State is "running", or "down" for a queue that does not answer.
	State string
}

// Overview is what the API shows of the broker as a whole.
type Overview struct {
	Node           string // "candlemark@host"
	ClusterName    string
	ProductVersion string // Candlemark's own
	Listeners      []Listener

	Connections, Channels, Consumers, Exchanges, Queues int
	// Ready and Unacked are messages in all queues.
	Ready, Unacked int
}

// Listener is one open port of the broker.
type Listener struct {
	Protocol string // "amqp", "http"
	Address  string // an IP address, "127.0.0.1"
	Port     int
}
