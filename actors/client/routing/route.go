package routing

import (
	"slices"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// StoredRoute is a route that is stored for later: another search may give a different result, since exchanges change at
// any time.
type StoredRoute struct {
	queues, histories []*topology.Queue
	caps              []int64
}

// Queues returns the number of queues.
func (r *StoredRoute) Queues() int { return len(r.queues) }

// Copies is Copies for the targets of the route.
func (r *StoredRoute) Copies(m *message.Message) int { return topology.Copies(r.queues, len(m.Header)) }

// Copies returns how many copies of a message are made for targets, besides the first one, with
// Enlarged of each (DL-33).
func Copies(targets []*Target, m *message.Message) (n int) {
	for _, t := range targets {
		n += 1 + t.Queue.Enlarged(len(m.Header), len(targets) > 1)
	}
	return max(n-1, 0)
}

// Multiplies reports whether Copies is above 0.
func Multiplies(targets []*Target, m *message.Message) bool {
	return len(targets) > 1 || len(targets) == 1 && targets[0].Queue.Enlarged(len(m.Header), false) > 0
}

// Stored returns the last route, which leads to targets, for later use.
func (r *RouteCache) Stored(targets []*Target) StoredRoute {
	queues := slices.DeleteFunc(Queues(targets), func(q *topology.Queue) bool { return q.Requester }) // found by SetTargets
	return StoredRoute{queues, Queues(r.histories), slices.Clone(r.caps)}
}

// Again makes a stored route the last one, for a message to x with key and more.
func (r *RouteCache) Again(x *topology.Exchange, key []byte, more [][]byte, f *StoredRoute) []*Target {
	r.finder.Forget()
	return r.SetTargets(x, key, more, f.queues, f.histories, f.caps)
}

// share makes the queues of a message share its content.
func share(m *message.Message) {
	m.Own()
	if m.Share == nil && m.Size() > message.ShareFrom {
		m.Share = message.NewShare(m.Size())
	}
}
