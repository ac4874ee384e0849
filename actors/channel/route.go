package channel

import (
	"bytes"

	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// cache remembers the last publish's exchange and route: most publishers keep
// to one. It is good while the vhost's generation and, from one read to the
// next, that of the permissions are the same.
type cache struct {
	valid      bool
	generation uint64
	granted    uint64 // generation of the permissions
	exchange   *topology.Exchange
	topics     bool // not every routing key is allowed there
	routed     bool // key and targets are set
	name, key  []byte
	targets    []*target
	caps       []int64  // of their TTLs, nil for none; the router's
	keys       [][]byte // of a message with carbon copies
}

// target is a queue with the batch that gathers for it in this turn.
type target struct {
	queue *topology.Queue
	peer  *peer
	batch *mail.Enqueue
}

// headers are those of the message being routed, decoded only if an exchange
// asks for them.
type headers struct {
	raw    []byte
	asked  bool
	decode func() protocol.Table // bound once
}

func (h *headers) init() {
	h.decode = func() protocol.Table {
		h.asked = true
		t, _ := protocol.DecodeTable(h.raw) // was scanned
		return t
	}
}

// exchangeFor checks that the client may publish there (TTL-7).
func (s *state) exchangeFor(name []byte) (*topology.Exchange, error) {
	if g := s.cfg.VHost.Generation(); s.cache.generation != g {
		s.cache.valid = false
		s.cache.generation = g
		clear(s.targets)
	}
	if s.cache.valid && bytes.Equal(s.cache.name, name) {
		return s.cache.exchange, nil
	}
	x, err := s.rights.Writable(name)
	if err != nil {
		return nil, err
	}
	s.cache.exchange, s.cache.valid, s.cache.routed = x, true, false
	s.cache.topics = s.rights.HasTopics(x)
	s.cache.name = append(s.cache.name[:0], name...)
	return x, nil
}

// route finds the queues for the message's own key and more. Only a route that
// depends on nothing but the own key is remembered. The error is for an x-delay that
// cannot be made out (DLY-2). If the router is over, the route is too long for a turn.
func (s *state) route(x *topology.Exchange, m *message.Message, more [][]byte, raw []byte) ([]*target, error) {
	c := &s.cache
	if c.routed && len(more) == 0 && bytes.Equal(c.key, m.RoutingKey) {
		return c.targets, nil
	}
	h := &s.headers
	h.raw, h.asked = raw, false
	dir := s.cfg.VHost.Directory()
	var queues []*topology.Queue
	if len(more) == 0 {
		queues = s.router.Route(dir, x, m.RoutingKey, h.decode)
	} else {
		c.keys = append(append(c.keys[:0], m.RoutingKey), more...)
		queues = s.router.RouteAll(dir, x, c.keys, h.decode)
		clear(c.keys)
	}
	h.raw = nil
	s.steps += s.router.Steps()
	if err := s.router.Refusal(); err != nil || s.router.Over() {
		c.routed = false
		return nil, err
	}
	c.routed = !h.asked && len(more) == 0
	c.key = append(c.key[:0], m.RoutingKey...)
	return s.aim(x, m.RoutingKey, more, queues, s.router.Caps()), nil
}

// aim makes targets of the queues that a route leads to, and notes the caps of
// their TTLs.
func (s *state) aim(x *topology.Exchange, key []byte, more [][]byte, queues []*topology.Queue, caps []int64) []*target {
	c := &s.cache
	c.targets, c.caps = c.targets[:0], caps
	for _, q := range queues {
		c.targets = append(c.targets, s.target(q))
	}
	if x.Name == "" {
		s.addRequesters(key, more)
	}
	return c.targets
}

// target returns the mail that this turn gathers for a queue.
func (s *state) target(q *topology.Queue) *target {
	t := s.targets[q]
	if t == nil {
		t = &target{queue: q}
		s.targets[q] = t
		if q.Requester {
			s.passing = append(s.passing, q)
		}
	}
	return t
}

// lookAgain has permissions checked anew if they changed.
func (c *cache) lookAgain(generation uint64) {
	if c.granted != generation {
		c.granted, c.valid = generation, false
	}
}
