package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// common is the limit that all consumers of the channel share, set by basic.qos
// with global=true: queues offer, the channel allows (DESIGN §5a.8).
type common struct {
	limit   int // 0 for none
	unacked int // delivered to consumers and not settled, whether there is a limit or not
	allowed int // by Allow and not delivered yet, over all queues
	offers  []offer
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
		s.common.offers = nil
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
	if p := s.peers[peerKey(m.Queue)]; p != nil && s.common.limit > 0 {
		s.common.offers = append(s.common.offers, offer{p, m.Messages})
		s.allow()
	}
}

// allow answers offers in their order while there is room under the limit.
func (s *state) allow() {
	c := &s.common
	for len(c.offers) > 0 && c.unacked+c.allowed < c.limit {
		o := c.offers[0]
		c.offers = c.offers[1:]
		if o.peer.consumers == 0 {
			continue
		}
		n := min(o.messages, c.limit-c.unacked-c.allowed)
		c.allowed += n
		o.peer.allowed += n
		s.send(o.peer.pid, &mail.Allow{Queue: o.peer.pid, Channel: s.self, Messages: n})
	}
}

// unused: what was allowed and not needed.
func (s *state) unused(m *mail.Unused) {
	if p := s.peers[peerKey(m.Queue)]; p != nil {
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
