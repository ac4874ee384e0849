package channel

import (
	"bytes"

	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// shareFrom is the content size in bytes from which a message for several
// queues is copied once and shared, not once into every queue (DESIGN §5a.11).
const shareFrom = 512

// cache remembers the last publish's exchange and route: most publishers keep
// to one. It is good while the vhost's generation is the same.
type cache struct {
	valid      bool
	generation uint64
	exchange   *topology.Exchange
	routed     bool // key and targets are set
	name, key  []byte
	targets    []*target
}

// target is a queue with the batch that gathers for it in this turn.
type target struct {
	queue *topology.Queue
	peer  *peer
	batch *mail.Enqueue
}

// publishIfComplete routes a message whose last frame has come. The checks are
// in the order of TTL-7.
func (s *state) publishIfComplete() error {
	a := &s.assembler
	if a.stage != complete {
		return nil
	}
	defer a.reset()
	a.unify()
	err := s.publish(a)
	if ce, ok := err.(*protocol.ChannelError); ok && ce.Class == 0 {
		return ce.For(&protocol.BasicPublish{})
	}
	return err
}

func (s *state) publish(a *assembler) error {
	x, err := s.exchangeFor(a.publish.Exchange)
	if err != nil {
		return err
	}
	scan, err := protocol.ScanProperties(a.raw)
	if err != nil {
		return err
	}
	m := message.Message{
		Exchange: a.publish.Exchange, RoutingKey: a.publish.RoutingKey, Header: a.raw, Body: a.content,
		TTL: message.NoTTL, Priority: scan.Priority, Persistent: scan.Persistent(), Owned: a.owned,
	}
	if scan.HasExpiration {
		if m.TTL, err = message.ParseTTL(scan.Expiration); err != nil {
			return err
		}
	}
	if s.confirms.on {
		m.Number = s.confirms.begin()
	}
	targets := s.route(x, &m, scan.Headers)
	if len(targets) == 0 {
		if a.publish.Mandatory {
			s.returnUnroutable(&m)
		}
		s.confirms.complete(m.Number)
		return nil
	}
	s.distribute(&m, targets)
	return nil
}

// distribute adds the message to the batch of each of its queues.
func (s *state) distribute(m *message.Message, targets []*target) {
	if len(targets) > 1 && m.Size() >= shareFrom {
		m.Own()
	}
	s.confirms.expect(m.Number, len(targets))
	for _, t := range targets {
		if t.batch == nil {
			t.batch = mail.NewEnqueue(s.self)
			s.touched = append(s.touched, t)
		}
		e := t.batch
		switch {
		case !m.Owned && e.Chunk == nil:
			s.chunk.Retain()
			e.Chunk = s.chunk
		case m.Owned:
			e.Debt.Owe(s.cfg.Gate, m.Size())
		}
		e.Messages = append(e.Messages, *m)
		if m.Number != 0 {
			s.reach(t).unconfirmed++
		}
	}
}

// reach finds the peer of a target, which is watched from then on.
func (s *state) reach(t *target) *peer {
	if t.peer == nil || t.peer.gone {
		t.peer = s.peer(t.queue.PID)
	}
	return t.peer
}

// exchangeFor checks that the client may publish there (TTL-7): permission,
// existence, internal.
func (s *state) exchangeFor(name []byte) (*topology.Exchange, error) {
	v := s.cfg.VHost
	if g := v.Generation(); s.cache.generation != g {
		s.cache.valid = false
		s.cache.generation = g
		clear(s.targets)
	}
	if s.cache.valid && bytes.Equal(s.cache.name, name) {
		return s.cache.exchange, nil
	}
	if err := s.permit(auth.Exchange, string(name), auth.Write); err != nil {
		return nil, err
	}
	x := v.Directory().Exchange(name)
	if x == nil {
		return nil, noExchange(string(name), v.Name)
	}
	if x.Internal {
		return nil, protocol.ChannelErrorf(protocol.AccessRefused, "cannot publish to internal exchange '%s' in vhost '%s'", name, v.Name)
	}
	if x.Name == topology.AdminExchange && !s.cfg.User.HasTag("administrator") && !s.cfg.User.HasTag("policymaker") {
		return nil, auth.Refuse(s.cfg.User, v.Name, auth.Resource{Kind: auth.Exchange, Name: x.Name}, auth.Write)
	}
	s.cache.exchange, s.cache.valid, s.cache.routed = x, true, false
	s.cache.name = append(s.cache.name[:0], name...)
	return x, nil
}

// route finds the queues. A headers exchange may look at more than the key, so
// only a route that never asked for headers is remembered.
func (s *state) route(x *topology.Exchange, m *message.Message, headers []byte) []*target {
	c := &s.cache
	if c.routed && bytes.Equal(c.key, m.RoutingKey) {
		return c.targets
	}
	asked := false
	queues := s.router.Route(s.cfg.VHost.Directory(), x, m.RoutingKey, func() protocol.Table {
		asked = true
		t, _ := protocol.DecodeTable(headers)
		return t
	})
	c.targets = c.targets[:0]
	for _, q := range queues {
		t := s.targets[q]
		if t == nil {
			t = &target{queue: q}
			s.targets[q] = t
		}
		c.targets = append(c.targets, t)
	}
	c.routed = !asked
	c.key = append(c.key[:0], m.RoutingKey...)
	return c.targets
}

// flush sends every queue its batch.
func (s *state) flush() {
	for i, t := range s.touched {
		s.send(t.queue.PID, t.batch)
		t.batch = nil
		s.touched[i] = nil
	}
	s.touched = s.touched[:0]
	s.flushSettled()
}

// returnUnroutable is basic.return for a mandatory message without a queue.
func (s *state) returnUnroutable(m *message.Message) {
	s.tell()
	b := s.cfg.Outbox.Begin()
	b = protocol.AppendMethodFrame(b, s.cfg.ID, &protocol.BasicReturn{
		ReplyCode: protocol.NoRoute, ReplyText: "NO_ROUTE", Exchange: string(m.Exchange), RoutingKey: string(m.RoutingKey),
	})
	b = protocol.AppendHeaderFrame(b, s.cfg.ID, uint64(len(m.Body)), m.Header)
	s.cfg.Outbox.End(protocol.AppendBodyFrames(b, s.cfg.ID, m.Body, s.cfg.FrameMax))
}

func (s *state) permit(kind auth.Kind, name string, perm auth.Permission) error {
	return s.cfg.Permissions.Check(s.cfg.User, s.cfg.VHost.Name, auth.Resource{Kind: kind, Name: name}, perm)
}

func noExchange(name, vhost string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, vhost)
}
