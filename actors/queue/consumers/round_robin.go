package consumers

import "slices"

// roundRobin holds the consumers that can take a message, in one ring for each priority, the highest first. A lower
// ring is used only if no consumer above can take a message.
type roundRobin []*ring

// ring holds the consumers of one priority.
type ring struct {
	priority int64
	next     *Consumer // the next consumer, nil if none can take a message
	members  int       // including consumers that cannot take a message
}

// Next returns the next consumer, nil if none can take a message.
func (s *Consumers) Next() *Consumer { return s.roundRobin.next() }

func (t roundRobin) next() *Consumer {
	for _, r := range t {
		if r.next != nil {
			return r.next
		}
	}
	return nil
}

// join returns the ring of a priority, created if necessary, and counts one more member.
func (t *roundRobin) join(priority int64) *ring {
	i, found := slices.BinarySearchFunc(*t, priority, func(r *ring, p int64) int {
		switch {
		case r.priority > p:
			return -1
		case r.priority < p:
			return 1
		}
		return 0
	})
	if !found {
		*t = slices.Insert(*t, i, &ring{priority: priority})
	}
	r := (*t)[i]
	r.members++
	return r
}

// leave removes one member.
func (t *roundRobin) leave(r *ring) {
	if r.members--; r.members > 0 {
		return
	}
	if *t = slices.DeleteFunc(*t, func(x *ring) bool { return x == r }); len(*t) == 0 {
		*t = nil
	}
}

// advance makes the consumer after c the next of its priority.
func (r *ring) advance(c *Consumer) {
	if r.next == c {
		r.next = c.next
	}
}

// refresh adds a consumer to its ring, as the last, or removes it, depending on whether it can take a message.
func (s *Consumers) refresh(c *Consumer) {
	r := c.ring
	switch can := c.canTake() && s.Active(c); {
	case can && c.next == nil:
		if r.next == nil {
			c.next, c.prev = c, c
			r.next = c
			return
		}
		c.next, c.prev = r.next, r.next.prev
		c.prev.next, c.next.prev = c, c
	case !can && c.next != nil:
		if r.advance(c); r.next == c {
			r.next = nil
		}
		c.prev.next, c.next.prev = c.next, c.prev
		c.next, c.prev = nil, nil
	}
}
