package channel

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// get sends basic.get to the queue when it is this channel's turn: only a few of the gets that a connection's channels
// request are under way, so that few messages are out of their queues. If the client has to read before it gets the
// message (PRO-20), the queue is asked again then. On a connection that is ending no more messages are taken.
func (s *state) get(m *protocol.BasicGet) error {
	name, err := s.client.Named(m.Queue)
	if err != nil {
		return err
	}
	q, err := s.rights.Readable(name)
	if err != nil || s.in.Leaving {
		return err
	}
	if s.queues.Peers.Find(q.PID) == nil {
		if err := s.cfg.Objects.Room(budget.PricePeer); err != nil {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot get from another queue: %v", err)
		}
	}
	p := &s.queues.Peers.Of(q.PID).Queue
	var got func(r *mail.GetReply)
	ask := func() bool {
		if !s.output.Claim() {
			return false
		}
		s.mail.Send(q.PID, &mail.Get{
			Request: s.request(m, func(reply any) { got(reply.(*mail.GetReply)) }),
			Channel: s.mail.Self(), NoAck: m.NoAck, Connection: s.cfg.Connection, Unread: s.unread, Queue: q.Name, VHost: s.cfg.VHost.Name,
		})
		return true
	}
	got = func(r *mail.GetReply) {
		if r.Crowded == 0 {
			s.output.Get(p, q.Name, r)
			return
		}
		s.output.Forgo() // others may get smaller messages
		s.output.InTurn(func() bool { return s.output.Roomy(r.Crowded) && ask() })
	}
	s.output.InTurn(ask)
	return nil
}
