package session10

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// settleEntity settles deliveries of links of Azure Service Bus's dialect. If the client expects an answer, the queues are
// asked which of them they still held, when their journal has the settlement (DUR-3). If the settlement is refused, the
// result puts the deliveries back (RETRY-5); otherwise it is nil.
func settleEntity(s *state, owned []settlement.Owned[*link], m *amqp10.Disposition) (keep func()) {
	if len(owned) == 0 {
		return nil
	}
	how, outcome, _, err := owned[0].Link.dialect.Settlement(&m.State, m.Settled, s.cfg.Clock)
	if err != nil {
		return refuseSettlement(s, owned, m.Settled, err)
	}
	all := settlement.Take(&s.unacked, owned, m.State, how)
	s.unacked.Flush() // earlier settlements come first
	for _, x := range all {
		if x.Queue.Gone {
			if !m.Settled {
				lost(s, x)
			}
			continue
		}
		command := &mail.Settle{Channel: s.Self(), Ranges: entities.Ranges(x.Numbers, how, outcome)}
		if !m.Settled {
			request := s.in.Request()
			s.settles[request.ID] = x
			command.Asked, command.Durable = &request, true
		}
		s.Send(x.Queue.Address, command)
	}
	return nil
}

// refuseSettlement takes out deliveries whose settlement is invalid, and returns a function that puts them back. That
// function rejects the settlement or, with detach, detaches the links.
func refuseSettlement(s *state, owned []settlement.Owned[*link], detach bool, err error) (keep func()) {
	held := make(map[uint64]unacked.Unacked, len(owned))
	for _, o := range owned {
		s.unacked.Take(o.Tag, o.Tag, func(tag uint64, u unacked.Unacked) { held[tag] = u })
	}
	return func() {
		dispositions := settlement.Dispositions{Send: s.reply}
		for _, o := range owned {
			s.unacked.Restore(o.Tag, held[o.Tag])
			s.owners.Restore(o.Tag, o.Link)
			if !detach {
				dispositions.Add(uint32(o.Tag-1), true, amqp10.State{Kind: amqp10.Rejected, Error: entities.ErrorOf(err)})
			}
		}
		dispositions.Flush()
		for _, o := range owned {
			if c := o.Link.consumer; detach && c != nil && !c.leaving {
				s.cancel(o.Link, func() { s.failLink(o.Link, err) })
			}
		}
	}
}

// entitySettled informs the client of a queue's answer.
func entitySettled(s *state, m *mail.SettleReply) {
	x := s.settles[m.Number()]
	if x == nil { // of a transaction, or the client's session has ended
		s.work.Answered(m.Number(), m.Failure())
		return
	}
	delete(s.settles, m.Number())
	if s.in.Phase != input.Open {
		return
	}
	if err := m.Failure(); err != nil {
		x.Refuse(entities.ErrorOf(err), s.reply, func(o settlement.Owned[*link], u unacked.Unacked) { keepUnsettled(s, o, u) })
		return
	}
	x.Report(entities.Lost(m.Lost), s.reply)
}

// keepUnsettled restores a delivery that its queue has refused to settle. If its link has ended, it is left as the
// others of the link were.
func keepUnsettled(s *state, o settlement.Owned[*link], u unacked.Unacked) {
	if s.links[o.Link.handle] == o.Link && o.Link.consumer != nil {
		s.unacked.Keep(o.Tag, u)
		s.owners.Restore(o.Tag, o.Link)
		return
	}
	s.unacked.Settle(u, mail.Leave, nil)
	s.unacked.Flush()
}

// lostWith answers instead of a queue that has ended.
func lostWith(s *state, p *peers.QueueLink) {
	for id, x := range s.settles {
		if x.Queue == &p.Queue {
			delete(s.settles, id)
			lost(s, x)
		}
	}
}

// lost informs a client that its queue no longer held any of the deliveries.
func lost(s *state, x *settlement.Asked[*link]) {
	if s.in.Phase == input.Open {
		x.Report(func(uint64) bool { return true }, s.reply)
	}
}

// outcome is the outcome of a message that the client has sent.
type outcome struct {
	link  *link
	id    uint32
	state amqp10.State
}

// settle sends a message's outcome to the client, if it expects one.
func (s *state) settle(d *transfer, state amqp10.State) {
	if !d.settled {
		conclude(s, d.batch, outcome{d.link, d.id, state})
	}
}

// conclude sends an outcome to the client, once the whole batch has one.
func conclude(s *state, b *settlement.Batch, o outcome) {
	switch {
	case b != nil && !b.Ends(&o.state):
	case b != nil && b.Asked != 0:
		s.answered(&input.Result{ID: b.Asked, Err: settlement.Refused(&o.state)})
	default:
		s.outcomes = append(s.outcomes, o)
	}
}

// appendOutcomes appends dispositions; neighbours with the same outcome share one.
func appendOutcomes(s *state, b []byte) []byte {
	for i := 0; i < len(s.outcomes); {
		first := &s.outcomes[i]
		n := 1
		for i+n < len(s.outcomes) && s.outcomes[i+n].id == first.id+uint32(n) && settlement.Same(&s.outcomes[i+n].state, &first.state) {
			n++
		}
		d := &amqp10.Disposition{Role: amqp10.RoleReceiver, First: first.id, Settled: true, State: first.state}
		if n > 1 {
			d.Last = amqp10.Some(first.id + uint32(n-1))
		}
		b = amqp10.AppendFrame(b, s.cfg.Channel, d)
		i += n
	}
	return b
}

// outcomesWritten counts outcomes that were written, and renews the credit of their links.
func outcomesWritten(s *state) {
	for i := range s.outcomes {
		if l := s.outcomes[i].link; l.publisher != nil {
			l.publisher.Open--
			s.refill(l)
		}
		s.outcomes[i] = outcome{}
	}
	s.outcomes = s.outcomes[:0]
}
