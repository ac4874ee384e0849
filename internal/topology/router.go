package topology

import (
	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"candlemark/protocol"
)

// Router resolves publishes to queues. It belongs to one goroutine and reuses its memory; the zero value is ready. In steady state
// it does not allocate, except for decoded headers.
type Router struct {
	keys    [][]byte
	headers func() protocol.Table
	fields  fields // the decoded headers of this publish
	decoded bool   // whether fields are of this publish

	queues    distinct[*Queue]
	exchanges distinct[*Exchange] // the visited set and, in order, what is still to be visited
	matched   bool                // whether the exchange in hand has found a destination

	topic topicWalk
	key   [1][]byte
	// Calls of add and addFirst, made once because a new closure would be allocated.
	walk, walkFirst iradix.WalkFn[destination]
}

// Route returns the distinct queues for a publish to x with key; none when it is unroutable. It follows bindings to exchanges, each
// exchange visited once, and, for each exchange at which no binding matched, its alternate exchange (DEC-14). The default exchange,
// the one with the empty name, routes to the queue named key in d (DEC-10). headers is called at most once, and only when a headers
// exchange with bindings is reached; nil means no headers. The result is valid until the next call.
func (r *Router) Route(d *Directory, x *Exchange, key []byte, headers func() protocol.Table) []*Queue {
	r.key[0] = key
	return r.RouteAll(d, x, r.key[:], headers)
}

// RouteAll is Route for a publish with several keys, as the CC and BCC headers make it: a queue that several keys lead to comes once,
// and an alternate exchange is asked only when none of the keys matched.
func (r *Router) RouteAll(d *Directory, x *Exchange, keys [][]byte, headers func() protocol.Table) []*Queue {
	r.keys, r.headers, r.decoded = keys, headers, false
	r.queues.reset()
	r.exchanges.reset()
	r.exchanges.add(x)
	for i := 0; i < len(r.exchanges.list); i++ {
		r.at(d, r.exchanges.list[i])
	}
	r.keys, r.headers, r.key[0] = nil, nil, nil
	return r.queues.list
}

// at adds what one exchange leads to.
func (r *Router) at(d *Directory, x *Exchange) {
	if x.Name == "" {
		for _, key := range r.keys {
			if q := d.Queue(key); q != nil {
				r.queues.add(q)
			}
		}
		return
	}
	routes := x.Routes()
	r.matched = false
	routes.matcher.match(r)
	if !r.matched && routes.Alternate != "" {
		if a := d.Exchange(routes.alternate); a != nil {
			r.exchanges.add(a)
		}
	}
}

// collect adds the members of set to the result.
func (r *Router) collect(set *destinations) {
	if set.many == nil {
		for i := range set.few {
			r.add(set.few[i].value.Target)
		}
		return
	}
	if r.walk == nil {
		r.walk = func(_ []byte, m destination) bool { r.add(m.Target); return false }
		r.walkFirst = func(_ []byte, m destination) bool { r.addFirst(m.Target); return false }
	}
	walk := r.walk
	if len(r.queues.list) == 0 {
		walk = r.walkFirst
	}
	set.many.Root().Walk(walk)
}

// addFirst is add for the members of the first set that brings queues: it has no doubles in itself, and a large fanout is spared the
// look for them.
func (r *Router) addFirst(t Target) {
	if t.Queue == nil {
		r.add(t)
		return
	}
	r.matched = true
	r.queues.list = append(r.queues.list, t.Queue)
}

// add adds one destination to the result.
func (r *Router) add(t Target) {
	r.matched = true
	if t.Queue != nil {
		r.queues.add(t.Queue)
	} else {
		r.exchanges.add(t.Exchange)
	}
}
