package session10

import (
	"candlemark/actors/client/peers"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol/amqp10"
)

// link is one link. One of publisher, consumer and answers is set unless it is closing.
type link struct {
	handle    uint32
	name      string
	address   string // address of its target or source, as the client names it
	closing   bool   // the broker has sent detach, and waits for the client's detach
	publisher *publisher
	consumer  *consumer
	answers   *answerLink[*link]
	opening   *opening
	dialect   dialects.Dialect // nil for a coordinator, for direct replies, and for a link that was refused
	temporary string           // the link's own queue, which ends with the link; "" for none
	size      int64            // in bytes of memory
	writer    dialect.Writer
}

// numbers returns the numbering of the queue from which the client receives.
func (l *link) numbers() (of numbers.Of) {
	if l.consumer != nil {
		of = l.consumer.numbers
	}
	return of
}

// account returns the credit account of a link on which the client receives; nil for others.
func (l *link) account() *window.Account {
	switch {
	case l.consumer != nil:
		return &l.consumer.Account
	case l.answers != nil:
		return &l.answers.Account
	}
	return nil
}

// flow returns a flow with the link's credit.
func (l *link) flow(w *window.Session) *amqp10.Flow {
	if l.publisher != nil {
		return w.OfLink(l.handle, l.publisher.Count, l.publisher.Credit)
	}
	if a := l.account(); a != nil {
		return w.OfLink(l.handle, a.Count, a.Credit())
	}
	return w.OfLink(l.handle, 0, 0)
}

// attach attaches a link, or refuses it (attachFailed).
func (s *state) attach(m *amqp10.Attach) {
	d, err := dialects.Of(m, &s.access, &s.limits)
	switch {
	case err != nil:
		s.fail(err)
		return
	case m.Handle > s.cfg.HandleMax:
		s.failConnection(amqp10.Errorf(amqp10.FramingError, "handle %d is higher than the negotiated handle-max", m.Handle))
		return
	case s.links[m.Handle] != nil:
		err = amqp10.Errorf(amqp10.HandleInUse, "handle %d is already associated with a link", m.Handle)
	case s.attachments.room(m) != nil:
		err = s.attachments.room(m)
	case m.Coordinator != nil && m.Role == amqp10.RoleSender:
		s.attachCoordinator(m)
	case d.CheckModes(m) != nil:
		err = d.CheckModes(m)
	case dialect.IsDynamic(m):
		err = s.attachDynamic(m, d)
	case m.Role == amqp10.RoleSender:
		err = s.attachPublisher(m, d)
	default:
		err = s.attachConsumer(m, d)
	}
	if err != nil {
		s.attachFailed(m, d, err)
		return
	}
	s.attachments.attached(s.links[m.Handle], m)
}

// attachPublisher attaches a link on which the client sends.
func (s *state) attachPublisher(m *amqp10.Attach, d dialects.Dialect) error {
	p := &publisher{Link: incoming.Link{
		Target: incoming.NewTarget(m.Handle), Window: incoming.Credit, MaxMessageSize: s.cfg.MaxMessage, Mode: m.SndSettleMode, Count: m.InitialDeliveryCount.Or(0),
	}}
	if m.Target == nil {
		return amqp10.Errorf(amqp10.NotImplemented, "links without a target are not supported")
	}
	offered := []amqp10.Symbol{dialect.DelayedDelivery}
	if d.Address() == "" {
		p.Anonymous = true
	} else if n := s.answering.nodeOf(d); n != nil {
		p.node, p.Window, p.MaxMessageSize, p.Mode = n, requestCredit, min(n.maxRequest, p.MaxMessageSize), amqp10.SenderMixed
		p.Properties, offered = m.Properties, nil
	} else if q, err := d.Target(&p.Link); err != nil {
		return err
	} else if q != nil {
		p.queue = s.queues.Peers.Of(q.PID)
	}
	l := &link{handle: m.Handle, name: m.Name, address: d.Address(), dialect: d, publisher: p}
	if m.Target.Dynamic {
		l.temporary = string(p.Key)
	}
	s.links[m.Handle] = l
	answer := dialect.AttachedTarget(m, p.MaxMessageSize)
	answer.Properties, answer.OfferedCapabilities = p.Properties, offered
	s.output.reply(answer)
	s.output.refill(l)
	return nil
}

// attachConsumer attaches a link on which the client receives, as a consumer of a queue.
func (s *state) attachConsumer(m *amqp10.Attach, d dialects.Dialect) error {
	switch {
	case m.Source == nil:
		return amqp10.Errorf(amqp10.InvalidField, "a source is missing")
	case s.answering.nodeOf(d) != nil:
		s.answering.attachAnswers(m, d)
		return nil
	}
	from, err := d.Source(m)
	switch {
	case err != nil:
		return err
	case from.Empty:
		s.answering.attachAnswers(m, d)
		return nil
	}
	s.receiving.open(m, d, from)
	return nil
}

// detach handles the client's detach, or its answer to the broker's.
func (s *state) detach(m *amqp10.Detach) {
	l := s.links[m.Handle]
	switch {
	case l == nil:
		s.fail(amqp10.Errorf(amqp10.UnattachedHandle, "detach of handle %d, which is not attached", m.Handle))
	case l.closing:
		delete(s.links, m.Handle)
	case l.opening != nil:
		s.receiving.stopOpening(l, func(o *opening) {
			s.output.reply(entities.RefusedAttach(o.attach))
			s.output.reply(&amqp10.Detach{Handle: m.Handle, Closed: m.Closed})
		})
	case l.publisher != nil:
		s.publishing.forgetPublisher(l)
		l.publisher = nil // otherwise pending outcomes and answers would give it credit
		s.temporary.End(l.temporary, func() {
			delete(s.links, m.Handle)
			s.output.reply(&amqp10.Detach{Handle: m.Handle, Closed: m.Closed})
		})
	case l.answers != nil:
		l.answers.End(s.cfg.VHost)
		s.output.withdraw(l)
		delete(s.links, m.Handle)
		s.output.reply(&amqp10.Detach{Handle: m.Handle, Closed: m.Closed})
	default:
		s.receiving.cancel(l, func() {
			s.temporary.End(l.temporary, func() {
				delete(s.links, l.handle)
				s.output.reply(&amqp10.Detach{Handle: l.handle, Closed: m.Closed})
			})
		})
	}
}

// failLink detaches a link with an error.
func (s *state) failLink(l *link, err error) {
	if l.closing {
		return
	}
	e := entities.ErrorOf(err)
	s.cfg.Log.Warn().Str("link", l.name).Str("condition", string(e.Condition)).Str("text", e.Description).Msg("link detached by the broker")
	if l.publisher != nil {
		s.publishing.forgetPublisher(l)
	}
	l.answers.End(s.cfg.VHost)
	s.temporary.Drop(l.temporary)
	l.closing, l.publisher, l.consumer, l.answers = true, nil, nil, nil
	s.output.reply(&amqp10.Detach{Handle: l.handle, Closed: true, Error: e})
}

// peerGone handles the end of a queue, after all its mail. The fate of publishes that it has not answered is unknown.
func (s *state) peerGone(p *peers.QueueLink) {
	for _, l := range s.links {
		switch {
		case l.consumer != nil && l.consumer.queue == &p.Queue:
			s.receiving.consumerCancelled(&mail.ConsumerCancelled{Queue: p.Address, Tag: l.consumer.tag})
		case l.publisher != nil && l.publisher.queue == p:
			s.failLink(l, entities.Deleted(string(l.publisher.Key), s.cfg.VHost.Name))
		}
	}
	s.settling.lostWith(p)
	if n := p.Unconfirmed(); n > 0 {
		s.fail(amqp10.Errorf(amqp10.InternalError, "a queue ended without confirming %d messages", n))
	}
}
