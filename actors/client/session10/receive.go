package session10

import (
	"errors"
	"strconv"

	"candlemark/actors/client/connevents"
	"candlemark/actors/client/input"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect"
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

// receiving consumes from queues for the links on which the client receives.
//
// Owns: nothing. Each link has its consumer.
type receiving struct {
	*base
	queues         *queues.Side
	output         *output
	links          map[uint32]*link // the session's, as all below
	work           *work.Session[*link]
	temporary      *temporaryQueues
	attachments    *attachments
	recheck        *access.Changes
	consumerEvents *connevents.Consumers
}

// open attaches a link to a queue, which answers.
func (s *receiving) open(m *amqp10.Attach, d dialects.Dialect, from dialects.Source) {
	q := from.Queue
	o := &opening{attach: m, dialect: d, from: from, peer: s.queues.Peers.Of(q.PID), ask: &mail.Consume{
		Channel: s.Self(), Tag: strconv.Itoa(int(m.Handle)), NoAck: m.SndSettleMode == amqp10.SenderSettled, Arguments: from.Arguments, Credited: true,
		Facts: from.Facts, Stays: from.Facts, Session: from.Session, Connection: s.cfg.Connection, Unread: s.output.unread, Queue: q.Name, VHost: s.cfg.VHost.Name,
	}}
	if from.Session != nil {
		o.ask.Request = s.in.Request()
		s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, address: d.Address(), dialect: d, opening: o}
		s.Send(q.PID, o.ask)
		return
	}
	o.ask.Request = s.queues.Request(func(_ any, err error) {
		switch {
		case err == nil:
			s.consumes(o, nil)
		case m.Source.Dynamic:
			s.temporary.Drop(q.Name)
			s.up.attachFailed(m, d, err)
		case !s.retryIfRestarting(err, func() { s.up.attach(m) }):
			s.up.attachFailed(m, d, err)
		}
	})
	s.Send(q.PID, o.ask)
}

// opening is a link that waits for its queue. If it waits for one of the queue's sessions, the client's other input continues.
type opening struct {
	attach  *amqp10.Attach
	dialect dialects.Dialect
	from    dialects.Source
	ask     *mail.Consume
	peer    *peers.QueueLink
	flow    *amqp10.Flow // the client's last flow, applied when the link has a session; nil for none
}

// consumes answers an attach once the queue has attached the consumer.
func (s *receiving) consumes(o *opening, got *mail.SessionLocked) {
	m, ask := o.attach, o.ask
	l := &link{handle: m.Handle, name: m.Name, address: o.dialect.Address(), dialect: o.dialect, writer: dialect.NewWriter(m.Handle), consumer: &consumer{
		queue: &o.peer.Queue, name: ask.Queue, tag: ask.Tag, noAck: ask.NoAck, from: o.from, numbers: numbers.OfQueue(o.from.Queue),
	}}
	if m.Source.Dynamic {
		l.temporary = ask.Queue
	}
	s.links[m.Handle] = l
	s.consumerEvents.Created(ask)
	answer := dialect.Attached(m, ask.NoAck, s.cfg.MaxMessage)
	dialect.Outcomes(answer.Source)
	entities.Grant(answer, m, got)
	s.output.reply(answer)
	s.attachments.attached(l, m)
}

// cancel ends a consumer, and then calls done. The queue answers after its last delivery, and so does the session. The
// queue requeues unsettled deliveries, except deliveries that transactions settle, before it delivers to others
// (LOCK-9). Deliveries on links of Azure Service Bus's dialect stay locked instead (LOCK-10).
func (s *receiving) cancel(l *link, done func()) {
	c := l.consumer
	c.leaving = true
	s.output.withdraw(l)
	ask := &mail.CancelConsumer{
		Request: s.queues.Request(func(any, error) {
			s.forgetConsumer(l)
			done()
		}),
		Channel: s.Self(), Tag: c.tag,
	}
	if l.dialect.Left() == mail.Requeue {
		settlement.TakeOf(&s.queues.Unacked, &s.output.owners, func(owner *link) bool { return owner == l }, func(u unacked.Unacked) { s.queues.Unacked.Account(u, mail.Requeue) })
		ask.Requeue, ask.Except = true, s.work.Settling(l)
	}
	s.Send(c.queue.Address, ask)
}

// forgetConsumer settles the unsettled messages of a consumer that its queue has cancelled.
func (s *receiving) forgetConsumer(l *link) {
	s.consumerEvents.Gone(l.consumer.tag, l.consumer.name)
	s.output.withdraw(l)
	how := l.dialect.Left()
	settlement.TakeOf(&s.queues.Unacked, &s.output.owners, func(owner *link) bool { return owner == l }, func(u unacked.Unacked) { s.queues.Unacked.Settle(u, how, nil) })
	s.queues.Unacked.Flush()
}

// consumerCancelled handles the end of a consumer by its queue, usually because the queue ended.
func (s *receiving) consumerCancelled(m *mail.ConsumerCancelled) {
	l := s.ofTag(m.Tag, m.Queue)
	if l == nil || l.consumer.leaving {
		return
	}
	q := s.cfg.VHost.Directory().Queue([]byte(l.consumer.name))
	s.forgetConsumer(l)
	s.up.failLink(l, entities.Cancelled(m, l.consumer.name, s.cfg.VHost.Name, q != nil && mail.Same(q.PID, m.Queue)))
}

// timedOut cancels a consumer that did not settle a delivery in time, after pending requests, and detaches its link.
func (s *receiving) timedOut(m *mail.ConsumerTimedOut) {
	if s.in.Waits() {
		s.in.Park(m)
	} else if l := s.ofTag(m.Tag, m.Queue); l != nil {
		s.cancel(l, func() { s.up.failLink(l, entities.TimedOut(l.consumer.name)) })
	}
}

// creditGiven passes the client's credit to the queue, which knows the deliveries under way.
func (s *receiving) creditGiven(l *link, f *amqp10.Flow) {
	c := l.consumer
	if f.LinkCredit.Set {
		c.Given(f)
		s.Send(c.queue.Address, &mail.SetLinkCredit{
			Channel: s.Self(), Tag: c.tag, DeliveryCount: f.DeliveryCount.Or(0), Credit: f.LinkCredit.Value, Drain: f.Drain, Echo: f.Echo,
		})
	} else if f.Echo && !f.Drain {
		s.output.replyFlow(l)
	}
}

// ofTag returns the link of the consumer with the given tag, nil if there is none.
func (s *receiving) ofTag(tag string, queue mail.Address) *link {
	for _, l := range s.links {
		if c := l.consumer; c != nil && c.tag == tag && mail.Same(c.queue.Address, queue) {
			return l
		}
	}
	return nil
}

// deliver writes messages for a consumer. Later output does not overtake them.
func (s *receiving) deliver(m *mail.Deliver) {
	s.in.Use()
	l := s.ofTag(m.Tag, m.Queue)
	switch {
	case l == nil || s.in.Leaving || s.in.Phase != input.Open:
		m.Release() // the queue is informed separately that the session is gone
	case l.consumer.leaving:
		s.output.sendBack(l, m)
	default:
		s.output.holdDeliveries(l, m)
	}
}

// creditTaken answers a drain or an echo, after the earlier deliveries. Repeated requests before the answer is read get
// one answer.
func (s *receiving) creditTaken(m *mail.CreditTaken) {
	if l := s.ofTag(m.Tag, m.Queue); l != nil && !l.consumer.leaving {
		s.output.holdFlow(l, m)
	}
}

// accepted attaches a link that has waited for a session, or refuses it.
func (s *receiving) accepted(m *mail.ConsumeReply) {
	for _, l := range s.links {
		if o := l.opening; o != nil && o.ask.ID == m.ID {
			if delete(s.links, l.handle); m.Err != nil {
				s.up.attachFailed(o.attach, o.dialect, m.Err)
				return
			}
			o.peer = s.queues.Peers.Of(o.from.Queue.PID)
			s.consumes(o, m.Session)
			if o.flow != nil {
				s.creditGiven(s.links[l.handle], o.flow)
			}
			s.recheck.Add(l.address) // its token may have expired in the meantime
			return
		}
	}
}

// stopOpening ends a link that waits for a session, and calls done when its queue has answered.
func (s *receiving) stopOpening(l *link, done func(o *opening)) {
	o := l.opening
	l.opening, l.closing = nil, true
	s.Send(o.from.Queue.PID, &mail.CancelConsumer{
		Request: s.queues.Request(func(any, error) {
			delete(s.links, l.handle)
			done(o)
		}),
		Channel: o.ask.Channel, Tag: o.ask.Tag,
	})
}

// retryIfRestarting reports whether err means that a queue ended before it saw a request; if so, it asks the virtual host about
// the queue, and calls again after the answer.
func (s *receiving) retryIfRestarting(err error, again func()) bool {
	var missed *mail.Missed
	if !errors.As(err, &missed) {
		return false
	}
	s.Send(s.cfg.VHost.PID, &mail.AwaitQueue{
		Request: s.queues.Request(func(_ any, err error) {
			if err != nil {
				s.up.fail(err)
				return
			}
			again()
		}),
		Name: missed.Queue, VHost: s.cfg.VHost.Name,
	})
	return true
}
