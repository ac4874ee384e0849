package routing

import (
	"slices"

	"candlemark/internal/message"
	"candlemark/internal/topology"
)

// Route is a route that is stored for later: another search may give a different result, since exchanges change at
// any time.
type Route struct {
	queues, histories []*topology.Queue
	caps              []int64
}

// Queues returns the number of queues.
func (r *Route) Queues() int { return len(r.queues) }

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

// share makes the queues of a message share its content.
func share(m *message.Message) {
	m.Own()
	if m.Share == nil && m.Size() > message.ShareFrom {
		m.Share = message.NewShare(m.Size())
	}
}
