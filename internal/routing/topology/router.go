package topology

import (
	"bytes"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/protocol"
)

// Router resolves publishes to queues. It belongs to one goroutine and reuses its memory; the zero value is ready. In steady state
// it does not allocate, except for decoded headers.
type Router struct {
	// Properties returns the properties of the current message and its original (protocol.SplitOriginal), for exchanges
	// that use a property, and the size of both in bytes; nil for a message without any. It is set before the first
	// publish.
	Properties func() (p protocol.Properties, original []byte, size int)

	keys    [][]byte
	headers func() protocol.Table
	asked   bool           // whether decoded belongs to this publish
	decoded protocol.Table // its headers
	loaded  bool           // whether fields belong to this publish
	fields  fields
	ruled   ruled

	delay   int64 // delay of this publish, ms
	delayed bool  // whether delay belongs to this publish
	refusal error
	draw    uint64 // for random exchanges
	random  bool   // whether draw belongs to this publish
	varies  bool   // whether the route depends on a property
	capped  bool   // whether an exchange on the route caps TTLs
	caps    caps
	work

	queues    distinct[*Queue]
	exchanges distinct[*Exchange] // the visited set and, in order, the exchanges still to be visited
	matched   bool                // whether the current exchange has found a destination
	histories []*Queue
	keepers   []*Exchange           // the exchanges of histories
	shares    []int                 // the comparisons that each of exchanges might make
	short     []*Exchange           // exchanges that had too few steps to compare all bindings
	costly    []*Queue              // of rules that took too many; nil for one to an exchange
	actions   []*Queue              // copies by actions at the current exchange
	failures  distinct[*QueueStats] // of queues that a message for which a rule failed is sent to

	topic topicWalk
	key   [1][]byte
	sets  distinct[any] // the sets of destinations that one of several keys has found
	// Calls of add and addFirst, made once because a new closure would be allocated.
	walk, walkFirst iradix.WalkFn[destination]
}

// Route returns the distinct queues for a publish to x with key; none when it is unroutable. It follows bindings to
// exchanges, each exchange visited once, and, for each exchange where no binding matched, its alternate exchange
// (DEC-14). At a delayed exchange the route ends in its holder when headers ask for a delay (DLY-2, DLY-6). The default
// exchange, the one with the empty name, routes to the queue named key in d (DEC-10). headers is called at most once,
// and only when a delayed exchange or a headers exchange with bindings is reached; nil means no headers. The result is
// valid until the next call. It is incomplete if Over returns true.
func (r *Router) Route(d *Directory, x *Exchange, key []byte, headers func() protocol.Table) []*Queue {
	r.key[0] = key
	return r.RouteAll(d, x, r.key[:], headers)
}

// RouteAll is Route for a publish with several keys, from the CC and BCC headers: a queue that several keys lead to is
// included once, and an alternate exchange is used only when none of the keys matched.
func (r *Router) RouteAll(d *Directory, x *Exchange, keys [][]byte, headers func() protocol.Table) []*Queue {
	r.keys, r.headers, r.asked = keys, headers, false
	r.loaded, r.ruled.loaded, r.delayed, r.refusal, r.capped = false, false, false, nil, false
	r.random, r.varies = false, false
	r.begin()
	r.queues.reset()
	r.exchanges.reset()
	r.histories, r.keepers, r.shares = r.histories[:0], r.keepers[:0], r.shares[:0]
	r.exchanges.add(x)
	r.refuseWords(x)
	left := chainSteps
	for i := 0; i < len(r.exchanges.list) && !r.over; i++ {
		if i > 0 {
			r.share, r.cut = left/(len(r.exchanges.list)-i), false
		}
		share := r.share
		r.shares = append(r.shares, share)
		r.at(d, r.exchanges.list[i])
		if i > 0 {
			left -= share - r.share
		}
		if r.cut {
			r.short, r.varies = append(r.short, r.exchanges.list[i]), true // so that each message counts
		}
	}
	if r.capped {
		r.findCaps(d, x)
	}
	r.countShort()
	r.keys, r.headers, r.key[0] = nil, nil, nil
	r.decoded = nil
	r.sets.reset()
	r.failures.reset()
	return r.queues.list
}

// refuseWords refuses a message to a topic exchange with too many keys.
func (r *Router) refuseWords(x *Exchange) {
	if _, is := x.Routes().matcher.(*topic); !is || len(r.keys) == 1 {
		return
	}
	words := 0
	for _, key := range r.keys {
		words += 1 + bytes.Count(key, []byte("."))
	}
	if words > maxWords {
		r.refusal = protocol.ChannelErrorf(protocol.PreconditionFailed,
			"the routing keys of a message to topic exchange '%s' have %d words together, more than %d", x.Name, words, maxWords)
	}
}

// countShort counts the message at exchanges where comparisons were skipped, and at queues whose rules were too expensive,
// unless the route is computed again.
func (r *Router) countShort() {
	if !r.over {
		for _, x := range r.short {
			x.skipped.Add(1)
			if x.VHost != nil {
				x.VHost.costs.skipped.Add(1)
			}
		}
		for _, q := range r.costly {
			if q != nil && q.Stats != nil {
				q.Stats.countCostly()
			}
		}
	}
	clear(r.short)
	clear(r.costly)
	r.short, r.costly = r.short[:0], r.costly[:0]
}

// at adds the destinations of one exchange.
func (r *Router) at(d *Directory, x *Exchange) {
	if !r.found(1) {
		return
	}
	if x.Name == "" {
		r.spend(len(r.keys))
		for _, key := range r.keys {
			if q := d.Queue(key); q != nil {
				r.queues.add(q)
			}
		}
		return
	}
	routes := x.Routes()
	r.capped = r.capped || routes.Capped
	if x.Delayed() && r.holds(x) {
		return
	}
	r.matched = false
	routes.matcher.match(r)
	if routes.history != nil {
		r.histories, r.keepers = append(r.histories, routes.history), append(r.keepers, x)
	}
	if !r.matched && routes.Alternate != "" {
		if a := d.Exchange(routes.alternate); a != nil {
			r.exchanges.add(a)
		}
	}
}

// holds routes a publish that asks for a delay to the holder of a delayed exchange. That counts as routed: the
// bindings, and the alternate exchange, are used when the message is due (DLY-3, DLY-4).
func (r *Router) holds(x *Exchange) bool {
	if !r.delayed {
		r.delayed, r.delay = true, 0
		if v, found := r.table().Get(timeheaders.DelayHeader); found {
			r.delay, r.refusal = timeheaders.Delay(v)
		}
	}
	if r.delay <= 0 {
		return false
	}
	if q := x.Holder(); q != nil {
		r.queues.add(q)
	}
	return true
}

// Steady reports whether the next publish with the same keys has the same result: the result depends on nothing else in
// the message, and is not random.
func (r *Router) Steady() bool { return !r.asked && !r.random && !r.varies }

// Refusal returns an error if the last publish must not be routed: a delayed exchange got an invalid x-delay
// (timeheaders.Delay), or a topic exchange too many keys (DEC-19). Callers without a publisher to inform use the route, which
// ignores the delay.
func (r *Router) Refusal() error { return r.refusal }

// collect adds the members of set to the result.
func (r *Router) collect(set *destinations) {
	if len(r.keys) > 1 && set.len() > 0 && !r.sets.add(set.identity()) {
		return
	}
	if !r.found(set.len()) {
		return
	}
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

// addFirst is add for the members of the first set with queues: a set has no duplicates, so a large fanout need not
// search for them.
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
