package queries

import (
	"context"
	"sync/atomic"

	"candlemark/actors/movers/move"
	"candlemark/actors/movers/republish"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/topology"
	"candlemark/supervision/ask"
)

// Config configures queries.
type Config struct {
	Asker       *ask.Asker
	VHosts      *topology.VHosts
	Registry    mail.Address // the policy registry
	Permissions auth.Permissions
	// SystemExchanges are the broker's own exchanges in each virtual host.
	SystemExchanges []mail.DeclareExchange
	// Connections returns the addresses of the connections of a name, of all for "". The error is the context's.
	Connections func(ctx context.Context, name string) ([]mail.Address, error)
	// SpawnMove makes the actor of a move.
	SpawnMove func(context.Context, move.Config) (mail.Address, error)
	// Events gets the events of closed connections, cancelled messages and moves; nil: none.
	Events *events.Hub
}

// Queries implements the parts of management.Broker that ask actors: Queues, Topology, Clients, Messages, and has the
// objects that implement others.
type Queries struct {
	Moves    *Moves
	Policies *Policies
	cfg      Config
	// Churn counts created and deleted objects, for Overview.
	Churn Churn
	// Sums holds the numbers reported by the queues.
	Sums   metrics.Queues
	Deaths republish.Stats // for DeadLetters
	totals totals
	// looking guards the last answer to Ahead.
	looking *turns
	ahead   lookedAhead
}

// Churn counts created and deleted objects since the broker started.
type Churn struct {
	ConnectionsOpened, ConnectionsClosed, ChannelsOpened, ChannelsClosed, QueuesMade atomic.Uint64
}

// New makes the queries of one broker.
func New(cfg Config) *Queries {
	qs := &Queries{cfg: cfg, looking: newTurns()}
	qs.Moves, qs.Policies = &Moves{qs: qs}, &Policies{cfg: &qs.cfg, previewing: newTurns()}
	return qs
}

// VHosts implements management.Broker.
func (qs *Queries) VHosts(context.Context) ([]string, error) {
	list := qs.cfg.VHosts.List("")
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return names, nil
}
