package topology

import "math"

// noCap is the cap of a route without caps.
const noCap = math.MaxInt64

// caps computes the TTL caps of a Router's route. It follows the paths once more, and only for a route with an exchange
// that caps TTLs.
type caps struct {
	list   []int64 // of the queues of the route, then of its histories
	lowest map[*Exchange]int64
	queues map[*Queue]int64
	todo   []*Exchange
	step   *Router // resolves one step from an exchange
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
		ms := capped(noCap, x.Routes())
		for range len(r.queues.list) + len(r.histories) {
			c.list = append(c.list, orNone(ms))
		}
		return
	}
	if c.step == nil {
		c.step, c.lowest, c.queues = &Router{}, map[*Exchange]int64{}, map[*Queue]int64{}
	}
	c.lowest[x] = noCap
	for c.todo = append(c.todo[:0], x); len(c.todo) > 0 && !r.over; c.todo = c.todo[1:] {
		r.capFrom(d, c.todo[0])
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
		c.list = append(c.list, orNone(capped(ms, x.Routes())))
	}
	clear(c.lowest)
	clear(c.queues)
	c.step.work = work{}
	c.todo, c.step.keys, c.step.headers, c.step.decoded = nil, nil, nil, nil
}

// capped returns the cap of a path that continues after a routing table.
func capped(ms int64, routes *Routes) int64 {
	if routes.Capped {
		return min(ms, routes.MaxTTL)
	}
	return ms
}

func orNone(ms int64) int64 {
	if ms == noCap {
		return -1
	}
	return ms
}

// capFrom caps the queues and exchanges one step after x.
func (r *Router) capFrom(d *Directory, x *Exchange) {
	c := &r.caps
	ms := capped(c.lowest[x], x.Routes())
	s := c.step
	s.keys, s.headers, s.asked, s.decoded = r.keys, r.headers, r.asked, r.decoded
	s.Properties, s.random, s.draw = r.Properties, r.random, r.draw
	s.loaded, s.ruled.loaded, s.delayed = false, false, false
	s.queues.reset()
	s.exchanges.reset()
	s.histories, s.keepers = s.histories[:0], s.keepers[:0]
	s.work = r.work
	s.at(d, x)
	r.work = s.work
	for _, q := range s.queues.list {
		if old, known := c.queues[q]; !known || ms < old {
			c.queues[q] = ms
		}
	}
	for _, to := range s.exchanges.list {
		if old, known := c.lowest[to]; !known || ms < old {
			c.lowest[to] = ms
			c.todo = append(c.todo, to)
		}
	}
}
