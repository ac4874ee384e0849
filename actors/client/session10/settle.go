package session10

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// settling settles deliveries for the client.
//
// Owns: settlements that queues have not answered, and the tags of deliveries that were settled by their locks.
type settling struct {
	*base
	queues    *queues.Side
	output    *output
	receiving *receiving
	links     map[uint32]*link // the session's
	work      *work.Session[*link]
	settles   map[uint64]*settlement.Asked[*link] // unanswered by queues, by request
	elsewhere settlement.Elsewhere
}

// disposition settles deliveries.
func (s *settling) disposition(m *amqp10.Disposition) {
	if m.Role != amqp10.RoleReceiver { // for its own messages, which are already settled
		return
	}
	if m.State.Kind == amqp10.Transactional {
		if err := s.work.Disposition(m); err != nil {
			s.up.fail(err)
		}
		return
	}
	how, outcome, final, err := settlement.Of(&m.State, m.Settled, s.cfg.Clock)
	if !final {
		if err != nil {
			s.up.fail(err)
		}
		return
	}
	first, last, ok := window.Tags(m.First, m.Last.Or(m.First), s.queues.Unacked.Last())
	if !ok {
		return
	}
	var asked, refused []settlement.Owned[*link]
	var others []uint64
	s.output.owners.TakeRange(first, last, func(tag uint64, l *link) {
		switch {
		case l.consumer != nil && l.dialect.Asks():
			asked = append(asked, settlement.Owned[*link]{Tag: tag, Link: l})
		case err != nil: // an invalid delay: RETRY-2
			refused = append(refused, settlement.Owned[*link]{Tag: tag, Link: l})
		case !m.Settled: // it expects an answer
			others = append(others, tag)
		}
	})
	lost := s.elsewhere.Take(first, last, m.Settled, s.output.reply)
	keep, detach := s.settleEntity(asked, m), s.refuseSettlement(refused, true, err)
	s.queues.Unacked.SettleWith(first, last, how, outcome) // the deliveries that remain
	if keep != nil {
		keep()
	}
	detach()
	switch {
	case m.Settled, len(refused) > 0:
	case len(asked) == 0 && !lost:
		s.output.reply(&amqp10.Disposition{Role: amqp10.RoleSender, First: m.First, Last: m.Last, Settled: true, State: m.State})
	default:
		for _, r := range entities.Ranges(others, how, outcome) {
			s.output.reply(&amqp10.Disposition{
				Role: amqp10.RoleSender, First: uint32(r.First - 1), Last: amqp10.Some(uint32(r.Last - 1)), Settled: true, State: m.State,
			})
		}
	}
}

// returned handles deliveries that a queue has requeued because they were not settled in time (ADR 10) or on request.
// Deliveries not written yet are dropped; the queue ignores the settlement of the others.
func (s *settling) returned(m *mail.DeliveriesRequeued) {
	p := s.queues.Peers.Find(m.Queue)
	if p == nil {
		return
	}
	unacked.LogRequeued(&s.cfg.Log, m, "settled")
	s.output.dropRequeued(m)
	if m.Settled { // by a client's request, possibly this client's
		for _, tag := range s.queues.Unacked.Forget(&p.Queue, m) {
			s.output.owners.Take(tag)
			s.elsewhere.Add(tag)
		}
		return
	}
	s.queues.Unacked.Return(&p.Queue, m)
	s.work.Return(&s.queues.Unacked, &p.Queue, m)
	if late := s.queues.Unacked.Late(); late > unacked.LateLimit {
		s.up.fail(amqp10.Errorf(amqp10.ResourceLimitExceeded, "%d deliveries were not settled in time", late))
	}
}

// settleEntity settles deliveries of links of Azure Service Bus's dialect. If the client expects an answer, the queues are
// asked which of them they still held, when their journal has the settlement (DUR-3). If the settlement is refused, the
// result puts the deliveries back (RETRY-5); otherwise it is nil.
func (s *settling) settleEntity(owned []settlement.Owned[*link], m *amqp10.Disposition) (keep func()) {
	if len(owned) == 0 {
		return nil
	}
	how, outcome, _, err := owned[0].Link.dialect.Settlement(&m.State, m.Settled, s.cfg.Clock)
	if err != nil {
		return s.refuseSettlement(owned, m.Settled, err)
	}
	all := settlement.Take(&s.queues.Unacked, owned, m.State, how)
	s.queues.Unacked.Flush() // earlier settlements come first
	for _, x := range all {
		if x.Queue.Gone {
			if !m.Settled {
				s.lost(x)
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
func (s *settling) refuseSettlement(owned []settlement.Owned[*link], detach bool, err error) (keep func()) {
	held := make(map[uint64]unacked.Unacked, len(owned))
	for _, o := range owned {
		s.queues.Unacked.Take(o.Tag, o.Tag, func(tag uint64, u unacked.Unacked) { held[tag] = u })
	}
	return func() {
		dispositions := settlement.Dispositions{Send: s.output.reply}
		for _, o := range owned {
			s.queues.Unacked.Restore(o.Tag, held[o.Tag])
			s.output.owners.Restore(o.Tag, o.Link)
			if !detach {
				dispositions.Add(uint32(o.Tag-1), true, amqp10.State{Kind: amqp10.Rejected, Error: entities.ErrorOf(err)})
			}
		}
		dispositions.Flush()
		for _, o := range owned {
			if c := o.Link.consumer; detach && c != nil && !c.leaving {
				s.receiving.cancel(o.Link, func() { s.up.failLink(o.Link, err) })
			}
		}
	}
}

// entitySettled informs the client of a queue's answer.
func (s *settling) entitySettled(m *mail.SettleReply) {
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
		x.Refuse(entities.ErrorOf(err), s.output.reply, func(o settlement.Owned[*link], u unacked.Unacked) { s.keepUnsettled(o, u) })
		return
	}
	x.Report(entities.Lost(m.Lost), s.output.reply)
}

// keepUnsettled restores a delivery that its queue has refused to settle. If its link has ended, it is left as the
// others of the link were.
func (s *settling) keepUnsettled(o settlement.Owned[*link], u unacked.Unacked) {
	if s.links[o.Link.handle] == o.Link && o.Link.consumer != nil {
		s.queues.Unacked.Keep(o.Tag, u)
		s.output.owners.Restore(o.Tag, o.Link)
		return
	}
	s.queues.Unacked.Settle(u, mail.Leave, nil)
	s.queues.Unacked.Flush()
}

// forget drops all settlements.
func (s *settling) forget() {
	clear(s.settles)
	s.elsewhere = settlement.Elsewhere{}
}

// lostWith answers instead of a queue that has ended.
func (s *settling) lostWith(p *peers.QueueLink) {
	for id, x := range s.settles {
		if x.Queue == &p.Queue {
			delete(s.settles, id)
			s.lost(x)
		}
	}
}

// lost informs a client that its queue no longer held any of the deliveries.
func (s *settling) lost(x *settlement.Asked[*link]) {
	if s.in.Phase == input.Open {
		x.Report(func(uint64) bool { return true }, s.output.reply)
	}
}
