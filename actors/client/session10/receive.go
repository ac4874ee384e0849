package session10

import (
	"slices"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol/amqp10"
)

// consumer is the state of a link on which the client receives.
type consumer struct {
	window.Account
	queue   *unacked.Queue
	name    string // name of the queue
	tag     string
	noAck   bool
	from    dialects.Source
	numbers numbers.Of
	leaving bool // the client has detached the link
	// Messages and bytes passed to the outbox and not yet granted to the queue again.
	written, bytes int
}

// creditGiven passes the client's credit to the queue, which knows the deliveries under way.
func (s *state) creditGiven(l *link, f *amqp10.Flow) {
	c := l.consumer
	if f.LinkCredit.Set {
		c.Given(f)
		s.Send(c.queue.Address, &mail.SetLinkCredit{
			Channel: s.Self(), Tag: c.tag, DeliveryCount: f.DeliveryCount.Or(0), Credit: f.LinkCredit.Value, Drain: f.Drain, Echo: f.Echo,
		})
	} else if f.Echo && !f.Drain {
		s.reply(l.flow(&s.windows))
	}
}

// ofTag returns the link of the consumer with the given tag, nil if there is none.
func (s *state) ofTag(tag string, queue mail.Address) *link {
	for _, l := range s.links {
		if c := l.consumer; c != nil && c.tag == tag && mail.Same(c.queue.Address, queue) {
			return l
		}
	}
	return nil
}

// deliver writes messages for a consumer. Later output does not overtake them.
func (s *state) deliver(m *mail.Deliver) {
	s.in.Use()
	l := s.ofTag(m.Tag, m.Queue)
	switch {
	case l == nil || s.in.Leaving || s.in.Phase != input.Open:
		m.Release() // the queue is informed separately that the session is gone
	case l.consumer.leaving:
		sendBack(s, l, m)
	default:
		if len(s.held) > 0 {
			m.DetachChunk()
		}
		s.held = append(s.held, &writing{link: l, deliver: m})
	}
}

// creditTaken answers a drain or an echo, after the earlier deliveries. Repeated requests before the answer is read get
// one answer.
func (s *state) creditTaken(m *mail.CreditTaken) {
	if l := s.ofTag(m.Tag, m.Queue); l != nil && !l.consumer.leaving {
		s.holdFlow(l, m)
	}
}

// holdFlow queues a flow of a link for writing.
func (s *state) holdFlow(l *link, m *mail.CreditTaken) {
	for _, w := range slices.Backward(s.held) {
		if w.link == l && w.flow != nil && w.flow.Drained == m.Drained {
			w.flow = m
			return
		} else if w.link == l && w.flow == nil {
			break
		}
	}
	s.held = append(s.held, &writing{link: l, flow: m})
}

// sendBack returns unwritten deliveries to their queue. When a link of RabbitMQ's dialect is detached, the queue requeues them itself.
func sendBack(s *state, l *link, m *mail.Deliver) {
	c := l.consumer
	back := entities.Unwritten(m)
	m.Release()
	if len(back) > 0 && (!c.leaving || l.dialect.Left() == mail.Leave) && !c.queue.Gone {
		s.Send(c.queue.Address, &mail.Settle{Channel: s.Self(), Ranges: back})
	}
}

// withdraw returns the unwritten deliveries of a link to their queue, and drops its answers.
func (s *state) withdraw(l *link) {
	kept := s.held[:0]
	for _, w := range s.held {
		if w.link != l {
			kept = append(kept, w)
			continue
		}
		begun := s.sending.of == w
		if begun {
			s.sending = sending{}
		}
		if w.deliver != nil {
			if begun { // the current message already has its number
				w.deliver.Wrote()
			}
			sendBack(s, l, w.deliver)
		}
		s.refill(s.dropAnswer(w.answer))
	}
	clear(s.held[len(kept):])
	s.held = kept
	for l.answers != nil && len(l.answers.Waiting) > 0 {
		s.refill(s.dropAnswer(l.answers.Waiting[0]))
		l.answers.Waiting = l.answers.Waiting[1:]
	}
}

// disposition settles deliveries.
func (s *state) disposition(m *amqp10.Disposition) {
	if m.Role != amqp10.RoleReceiver { // for its own messages, which are already settled
		return
	}
	if m.State.Kind == amqp10.Transactional {
		if err := s.work.Disposition(m); err != nil {
			s.fail(err)
		}
		return
	}
	how, outcome, final, err := settlement.Of(&m.State, m.Settled, s.cfg.Clock)
	if !final {
		if err != nil {
			s.fail(err)
		}
		return
	}
	first, last, ok := window.Tags(m.First, m.Last.Or(m.First), s.unacked.Last())
	if !ok {
		return
	}
	var asked, refused []settlement.Owned[*link]
	var others []uint64
	s.owners.TakeRange(first, last, func(tag uint64, l *link) {
		switch {
		case l.consumer != nil && l.dialect.Asks():
			asked = append(asked, settlement.Owned[*link]{Tag: tag, Link: l})
		case err != nil: // an invalid delay: RETRY-2
			refused = append(refused, settlement.Owned[*link]{Tag: tag, Link: l})
		case !m.Settled: // it expects an answer
			others = append(others, tag)
		}
	})
	lost := s.elsewhere.Take(first, last, m.Settled, s.reply)
	keep, detach := settleEntity(s, asked, m), refuseSettlement(s, refused, true, err)
	s.unacked.SettleWith(first, last, how, outcome) // the deliveries that remain
	if keep != nil {
		keep()
	}
	detach()
	switch {
	case m.Settled, len(refused) > 0:
	case len(asked) == 0 && !lost:
		s.reply(&amqp10.Disposition{Role: amqp10.RoleSender, First: m.First, Last: m.Last, Settled: true, State: m.State})
	default:
		for _, r := range entities.Ranges(others, how, outcome) {
			s.reply(&amqp10.Disposition{
				Role: amqp10.RoleSender, First: uint32(r.First - 1), Last: amqp10.Some(uint32(r.Last - 1)), Settled: true, State: m.State,
			})
		}
	}
}

// returned handles deliveries that a queue has requeued because they were not settled in time (ADR 10) or on request.
// Deliveries not written yet are dropped; the queue ignores the settlement of the others.
func (s *state) returned(m *mail.DeliveriesRequeued) {
	p := s.peers.Find(m.Queue)
	if p == nil {
		return
	}
	unacked.LogRequeued(&s.cfg.Log, m, "settled")
	for _, w := range s.held {
		if w.deliver != nil && mail.Same(w.deliver.Queue, m.Queue) {
			w.drop(m, s.sending.of == w)
		}
	}
	if m.Settled { // by a client's request, possibly this client's
		for _, tag := range s.unacked.Forget(&p.Queue, m) {
			s.owners.Take(tag)
			s.elsewhere.Add(tag)
		}
		return
	}
	s.unacked.Return(&p.Queue, m)
	s.work.Return(&s.unacked, &p.Queue, m)
	if late := s.unacked.Late(); late > unacked.LateLimit {
		s.fail(amqp10.Errorf(amqp10.ResourceLimitExceeded, "%d deliveries were not settled in time", late))
	}
}

// accepted attaches a link that has waited for a session, or refuses it.
func accepted(s *state, m *mail.ConsumeReply) {
	for _, l := range s.links {
		if o := l.opening; o != nil && o.ask.ID == m.ID {
			if delete(s.links, l.handle); m.Err != nil {
				attachFailed(s, o.attach, o.dialect, m.Err)
				return
			}
			o.peer = s.peers.Of(o.from.Queue.PID)
			consumes(s, o, m.Session)
			if o.flow != nil {
				s.creditGiven(s.links[l.handle], o.flow)
			}
			s.recheck.Add(l.address) // its token may have expired in the meantime
			return
		}
	}
}

// stopOpening ends a link that waits for a session, and calls done when its queue has answered.
func stopOpening(s *state, l *link, done func(o *opening)) {
	o := l.opening
	l.opening, l.closing = nil, true
	s.Send(o.from.Queue.PID, &mail.CancelConsumer{
		Request: s.request(func(any, error) {
			delete(s.links, l.handle)
			done(o)
		}),
		Channel: o.ask.Channel, Tag: o.ask.Tag,
	})
}
