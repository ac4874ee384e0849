package topology

import (
	"cmp"
	"math"
	"slices"
)

// noCap is the cap of a route without caps.
const noCap = math.MaxInt64

// caps computes the TTL caps of a Router's route. It resolves each exchange once more, and only for a route with an exchange
// that caps TTLs.
type caps struct {
	list   []int64 // of the queues of the route, then of its histories
	found  []capping
	shares map[*Exchange]int
	lowest map[*Exchange]int64 // of what leaves the exchange
	queues map[*Queue]int64
	todo   []*Exchange
	step   *Router // resolves one step from an exchange
}

// capping is an exchange of the route that caps.
type capping struct {
	*Exchange
	ms int64
}

// Caps returns, for each queue of the last route and then for each of its histories, the maximum time in ms that the
// message may stay there: the lowest MaxTTL of the exchanges on all paths to it; negative for no limit. It is nil if no
// exchange of the route caps. It is valid until the next call of Route.
func (r *Router) Caps() []int64 {
	if !r.capped {
		return nil
	}
	return r.caps.list
}

// findCaps fills the list for the route from x. The tables may have changed since then: a queue that no path reaches
// any more is not capped.
func (r *Router) findCaps(d *Directory, x *Exchange) {
	c := &r.caps
	c.list = c.list[:0]
	if len(r.exchanges.list) == 1 {
		ms := int64(noCap)
		if routes := x.Routes(); routes.Capped {
			ms = routes.MaxTTL
		}
		for range len(r.queues.list) + len(r.histories) {
			c.list = append(c.list, orNone(ms))
		}
		return
	}
	if c.step == nil {
		c.step, c.shares, c.lowest, c.queues = &Router{}, map[*Exchange]int{}, map[*Exchange]int64{}, map[*Queue]int64{}
	}
	for i, x := range r.exchanges.list[:len(r.shares)] {
		c.shares[x] = r.shares[i]
		if routes := x.Routes(); routes.Capped {
			c.found = append(c.found, capping{x, routes.MaxTTL})
		}
	}
	slices.SortFunc(c.found, func(a, b capping) int { return cmp.Compare(a.ms, b.ms) })
	for _, x := range c.found { // what one reaches first has no lower cap
		c.todo = c.todo[:0]
		c.reach(x.Exchange, x.ms)
		for len(c.todo) > 0 && !r.over {
			last := len(c.todo) - 1
			next := c.todo[last]
			c.todo = c.todo[:last]
			r.capFrom(d, next, x.ms)
		}
	}
	for _, q := range r.queues.list {
		ms, known := c.queues[q]
		if !known {
			ms = noCap
		}
		c.list = append(c.list, orNone(ms))
	}
	for _, x := range r.keepers {
		ms, known := c.lowest[x]
		if !known {
			ms = noCap
		}
		c.list = append(c.list, orNone(ms))
	}
	clear(c.found)
	clear(c.shares)
	clear(c.lowest)
	clear(c.queues)
	c.step.work = work{}
	clear(c.todo[:cap(c.todo)])
	c.found, c.todo = c.found[:0], c.todo[:0]
	c.step.keys, c.step.headers, c.step.decoded = nil, nil, nil
}

func orNone(ms int64) int64 {
	if ms == noCap {
		return -1
	}
	return ms
}

// reach caps what leaves x, unless it is capped lower.
func (c *caps) reach(x *Exchange, ms int64) {
	if _, known := c.lowest[x]; !known {
		c.lowest[x] = ms
		c.todo = append(c.todo, x)
	}
}

// capFrom caps the queues and exchanges one step after x.
func (r *Router) capFrom(d *Directory, x *Exchange, ms int64) {
	c := &r.caps
	s := c.step
	s.keys, s.headers, s.asked, s.decoded = r.keys, r.headers, r.asked, r.decoded
	s.Properties, s.random, s.draw = r.Properties, r.random, r.draw
	s.loaded, s.ruled.loaded, s.delayed = false, false, false
	s.queues.reset()
	s.exchanges.reset()
	s.histories, s.keepers = s.histories[:0], s.keepers[:0]
	s.work = r.work
	s.share = c.shares[x]
	s.sets.reset()
	s.failures.reset()
	clear(s.costly)
	s.costly = s.costly[:0]
	compared := s.steps - s.free
	s.at(d, x)
	s.free = s.steps - compared // the first pass has paid for the comparisons
	r.work = s.work
	for _, q := range s.queues.list {
		if _, known := c.queues[q]; !known {
			c.queues[q] = ms
		}
	}
	for _, to := range s.exchanges.list {
		c.reach(to, ms)
	}
}
