package queue

import "slices"

// turns are the consumers that can take a message, in one ring for each
// priority, the highest first. A lower one gets its turn when nobody above it
// can take.
type turns []*ring

// ring is the consumers of one priority.
type ring struct {
	priority int64
	turn     *consumer // whose turn it is, nil when none can take
	members  int       // whether they can take or not
}

// next is the consumer whose turn it is, nil when nobody can take a message.
func (t turns) next() *consumer {
	for _, r := range t {
		if r.turn != nil {
			return r.turn
		}
	}
	return nil
}

// join finds or makes the ring of a priority, for one more member.
func (t *turns) join(priority int64) *ring {
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

// leave takes one member away.
func (t *turns) leave(r *ring) {
	if r.members--; r.members > 0 {
		return
	}
	if *t = slices.DeleteFunc(*t, func(x *ring) bool { return x == r }); len(*t) == 0 {
		*t = nil
	}
}

// pass gives the turn of c to the next of its priority.
func (r *ring) pass(c *consumer) {
	if r.turn == c {
		r.turn = c.next
	}
}

// refresh puts a consumer into its ring, last in turn, or takes it out.
func (s *state) refresh(c *consumer) {
	r := c.ring
	switch can := c.canTake() && s.active(c); {
	case can && c.next == nil:
		if r.turn == nil {
			c.next, c.prev = c, c
			r.turn = c
			return
		}
		c.next, c.prev = r.turn, r.turn.prev
		c.prev.next, c.next.prev = c, c
	case !can && c.next != nil:
		if r.pass(c); r.turn == c {
			r.turn = nil
		}
		c.prev.next, c.next.prev = c.next, c.prev
		c.next, c.prev = nil, nil
	}
}
