package channel

import (
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// get asks the queue when it is this channel's turn: of what basic.get takes out
// of queues, only a few messages are on their way for one connection, whatever its
// channels ask for. A connection that ends takes nothing any more.
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
			Request: s.request(m, func(reply any) { s.got(p, q.Name, reply.(*mail.GetReply)) }),
			Channel: s.self, NoAck: m.NoAck, Connection: s.cfg.Connection, Queue: q.Name, VHost: s.cfg.VHost.Name,
		})
		return true
	}
	s.output.InTurn(ask)
	return nil
}

// got answers basic.get.
func (s *state) got(p *unacked.Queue, queue string, r *mail.GetReply) {
	if r.Empty {
		s.output.Forgo()
		s.counts.GetEmpty++
		s.output.Reply(&protocol.BasicGetEmpty{})
		return
	}
	s.output.InTurn(func() bool { return s.hand(p, queue, r) })
}

// hand writes what was got if there is room. Its tag is given out only then, so
// that tags stay in order.
func (s *state) hand(p *unacked.Queue, queue string, r *mail.GetReply) bool {
	d := &r.Delivery
	if !s.output.Offer(func(b []byte) []byte {
		b = protocol.AppendMethodFrame(b, s.cfg.ID, &protocol.BasicGetOk{
			DeliveryTag: s.unacked.Tag(p, d.Number, true), Redelivered: d.Redelivered, Exchange: string(d.Message.Exchange),
			RoutingKey: string(d.Message.RoutingKey), MessageCount: uint32(r.MessageCount),
		})
		b = protocol.AppendHeaderFrame(b, s.cfg.ID, uint64(len(d.Message.Body)), s.output.HeaderOf(d))
		return protocol.AppendBodyFrames(b, s.cfg.ID, d.Message.Body, s.cfg.FrameMax)
	}) {
		return false
	}
	s.output.Forgo()
	if d.Number == 0 {
		s.counts.GetNoAck++
	} else {
		s.counts.Get++
	}
	if d.Redelivered {
		s.counts.Redeliver++
	}
	if s.cfg.VHost.Tracing() {
		s.traceDeliveries(queue, []mail.Delivery{*d})
	}
	return true
}
