package channel

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// globalQos is the limit that all consumers of the channel share, set by basic.qos
// with global=true: queues offer, the channel allows (PRO-8).
type globalQos struct {
	limit   int // 0 for none
	unacked int // delivered to consumers and not settled, whether there is a limit or not
	allowed int // by Allow and not delivered yet, over all queues
	offers  []offer
	idle    []*peer // that would take one in advance
}

type offer struct {
	peer     *peer
	messages int
}

// qos sets the prefetch of consumers to come, and for some clients of those that
// are there, or the channel's common limit. As in RabbitMQ the former takes the
// latter away.
func (s *state) qos(m *protocol.BasicQos) error {
	if m.PrefetchSize != 0 {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	}
	if m.Global {
		s.limit(int(m.PrefetchCount))
	} else {
		s.prefetch = int(m.PrefetchCount)
		s.limit(0)
		s.resize()
	}
	s.reply(&protocol.BasicQosOk{})
	return nil
}

func (s *state) limit(n int) {
	before := s.common.limit
	s.common.limit = n
	if before > 0 != (n > 0) {
		for _, p := range s.peers {
			if p.consumers > 0 {
				s.send(p.pid, &mail.Limit{Channel: s.self, On: n > 0})
			}
		}
		s.common.offers, s.common.idle = nil, nil
	}
	s.allow()
}

// resize tells every queue where the channel consumes of another prefetch.
func (s *state) resize() {
	if !quirks[s.cfg.ClientProduct].resizes {
		return
	}
	for _, p := range s.peers {
		if p.consumers > 0 {
			s.send(p.pid, &mail.Resize{Channel: s.self, Prefetch: s.prefetch})
		}
	}
}

// offered: a queue has messages for consumers under the common limit.
func (s *state) offered(m *mail.Offer) {
	p := s.peers[peerKey(m.Queue)]
	switch {
	case p == nil || s.common.limit == 0:
		return
	case m.Messages > 0:
		i := slices.IndexFunc(s.common.offers, func(o offer) bool { return o.peer == p })
		if i < 0 {
			i = len(s.common.offers)
			s.common.offers = append(s.common.offers, offer{peer: p})
		}
		s.common.offers[i].messages = m.Messages
	case !slices.Contains(s.common.idle, p):
		s.common.idle = append(s.common.idle, p)
	}
	s.allow()
}

// allow answers offers in their order while there is room under the limit; what
// room is left is given in advance.
func (s *state) allow() {
	c := &s.common
	for len(c.offers) > 0 && c.unacked+c.allowed < c.limit {
		o := c.offers[0]
		c.offers = c.offers[1:]
		s.allowPeer(o.peer, o.messages)
	}
	for len(c.idle) > 0 && c.unacked+c.allowed < c.limit {
		p := c.idle[0]
		c.idle = c.idle[1:]
		s.allowPeer(p, 1)
	}
	switch {
	case c.limit > 0 && c.allowed > 0 && c.unacked+c.allowed > c.limit: // it was lowered
		s.reclaim(nil)
	case len(c.offers) > 0 && c.unacked < c.limit:
		s.reclaim(c.offers[0].peer)
	}
}

func (s *state) allowPeer(p *peer, n int) {
	c := &s.common
	if p.consumers == 0 {
		return
	}
	n = min(n, c.limit-c.unacked-c.allowed)
	c.allowed += n
	p.allowed += n
	p.reclaimed = false
	s.send(p.pid, &mail.Allow{Queue: p.pid, Channel: s.self, Messages: n})
}

// reclaim asks queues for what they were allowed and may not need, but for the
// one that needs it.
func (s *state) reclaim(needy *peer) {
	for _, p := range s.peers {
		if p != needy && p.allowed > 0 && !p.reclaimed {
			p.reclaimed = true
			s.send(p.pid, &mail.Reclaim{Channel: s.self})
		}
	}
}

// unused: what was allowed and not needed.
func (s *state) unused(m *mail.Unused) {
	if p := s.peers[peerKey(m.Queue)]; p != nil {
		p.reclaimed = false
		s.disallow(p, m.Messages)
		s.allow()
	}
}

// disallow takes back up to n of what a queue was allowed: it is delivered, not
// needed, or will never come.
func (s *state) disallow(p *peer, n int) {
	n = min(n, p.allowed)
	p.allowed -= n
	s.common.allowed -= n
}
