package routing

import (
	"slices"

	"candlemark/internal/topology"
)

// Found is a route that was found and is used later: another look may bring another one, since exchanges change at any time.
type Found struct {
	queues, histories []*topology.Queue
	caps              []int64
}

// Found is the last route, that to targets.
func (r *Routes) Found(targets []*Target) Found {
	queues := slices.DeleteFunc(Queues(targets), func(q *topology.Queue) bool { return q.Requester }) // whom Aim finds
	return Found{queues, Queues(r.histories), slices.Clone(r.caps)}
}

// Again makes a route that was kept the last one, for a message to x with key and more.
func (r *Routes) Again(x *topology.Exchange, key []byte, more [][]byte, f *Found) []*Target {
	r.routed = false
	return r.Aim(x, key, more, f.queues, f.histories, f.caps)
}
