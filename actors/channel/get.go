package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// get sends basic.get to the queue when it is this channel's turn: however many gets a connection's channels request,
// only a few are under way, so that few messages are out of their queues. On a connection that is ending no more
// messages are taken.
func (s *state) get(m *protocol.BasicGet) error {
	name, err := s.client.Named(m.Queue)
	if err != nil {
		return err
	}
	q, err := s.rights.Readable(name)
	if err != nil || s.leaving {
		return err
	}
	p := &s.peers.Of(q.PID).Queue
	ask := func() bool {
		if !s.output.Claim() {
			return false
		}
		s.Send(q.PID, &mail.Get{
			Request: s.request(m, func(reply any) { s.output.Get(p, q.Name, reply.(*mail.GetReply)) }),
			Channel: s.Self(), NoAck: m.NoAck, Connection: s.cfg.Connection, Queue: q.Name, VHost: s.cfg.VHost.Name,
		})
		return true
	}
	s.output.InTurn(ask)
	return nil
}
