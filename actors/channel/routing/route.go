package routing

import (
	"slices"

	"candlemark/internal/topology"
)

// Route is a route that is stored for later: another search may give a different result, since exchanges change at
// any time.
type Route struct {
	queues, histories []*topology.Queue
	caps              []int64
}

// Stored returns the last route, which leads to targets, for later use.
func (r *Routes) Stored(targets []*Target) Route {
	queues := slices.DeleteFunc(Queues(targets), func(q *topology.Queue) bool { return q.Requester }) // found by Aim
	return Route{queues, Queues(r.histories), slices.Clone(r.caps)}
}

// Again makes a stored route the last one, for a message to x with key and more.
func (r *Routes) Again(x *topology.Exchange, key []byte, more [][]byte, f *Route) []*Target {
	r.routed = false
	return r.Aim(x, key, more, f.queues, f.histories, f.caps)
}
