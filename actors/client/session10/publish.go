package session10

import (
	"errors"
	"sync"

	"candlemark/actors/client/input"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// publish is a message that queues have not confirmed.
type publish = settlement.Publish[*link]

// publishing publishes the messages that a client sends on its links.
//
// Owns: messages that queues have not confirmed.
type publishing struct {
	*base
	queues    *queues.Side
	output    *output
	links     map[uint32]*link // the session's
	access    *access.Access
	work      *work.Session[*link]
	ask       func(d *transfer, n *node, request []byte)
	publishes settlement.Unconfirmed[*link] // by publish number
}

// publisher is the state of a link on which the client sends.
type publisher struct {
	incoming.Link
	node        *node            // messages are requests to this node, unless nil
	coordinator bool             // messages declare and discharge transactions
	queue       *peers.QueueLink // the target, if it is a queue; nil for none
}

// forgetPublisher drops incomplete input of a link.
func (s *publishing) forgetPublisher(l *link) {
	l.publisher.Forget(s.cfg.Arrivals)
	if l.publisher.coordinator {
		s.Send(s.cfg.Connection, &mail.AbandonTransactions{Session: s.Self(), Link: l.handle})
	}
}

// transfer handles a message, or a part of one.
func (s *publishing) transfer(t *amqp10.Transfer, payload []byte) {
	if !s.output.windows.Came() {
		s.up.fail(amqp10.Errorf(amqp10.WindowViolation, "more transfers than the incoming window allows"))
		return
	}
	l := s.links[t.Handle]
	switch {
	case l == nil:
		s.up.fail(amqp10.Errorf(amqp10.UnattachedHandle, "transfer for handle %d, which is not attached", t.Handle))
		return
	case l.closing:
		return
	case l.publisher == nil:
		s.up.fail(amqp10.Errorf(amqp10.NotAllowed, "transfer on a link whose receiver is the client"))
		return
	}
	d, whole, err := l.publisher.Take(t, payload, s.cfg.Arrivals)
	switch _, wrong := errors.AsType[*incoming.SessionError](err); {
	case wrong:
		s.up.fail(err)
	case err != nil:
		s.up.failLink(l, err)
	case whole:
		s.delivery(l, &d)
	case t.Aborted:
		s.output.refill(l)
	}
}

// delivery publishes a complete message.
func (s *publishing) delivery(l *link, whole *incoming.Publishing) {
	p := l.publisher
	d := deliveries.Get().(*transfer)
	d.link, d.id, d.settled, d.Refused = l, whole.ID, whole.Settled, whole.Refused
	var debt message.Charge
	if whole.Owned {
		d.Message.Owned = true
		debt.Add(s.cfg.Gate, len(whole.Payload))
	}
	if !d.settled {
		p.Open++
	}
	var err error
	d.tx, err = s.work.Of(whole.Txn, p.node == nil && !p.coordinator)
	switch {
	case err != nil:
		s.settle(d, work.Rejected(err))
	case p.coordinator:
		s.work.Coordinate(l.handle, whole.Payload, func(state amqp10.State) { s.settle(d, state) })
	case p.node != nil: // the node may keep the payload
		s.ask(d, p.node, whole.Payload)
	case whole.Batched:
		s.publishBatch(d, whole.Payload)
	default:
		s.publish(d, whole.Payload)
		*d = transfer{}
		deliveries.Put(d)
	}
	debt.Release() // its batches charge for it
	s.output.refill(l)
}

// transfer is a message that is being published.
type transfer struct {
	incoming.Publish
	link    *link
	id      uint32
	settled bool // no outcome is expected
	tx      *work.Transaction[*link]
	batch   *settlement.Batch
	at      int32 // index in the batch
	found   routing.StoredRoute
}

// deliveries pools zero values for messages published at once.
var deliveries = sync.Pool{New: func() any { return new(transfer) }}

// publish checks a message and routes it.
func (s *publishing) publish(d *transfer, payload []byte) {
	err := s.check(d, payload)
	var targets []*routing.Target
	if err == nil {
		targets, err = d.Find(&d.link.publisher.Target, s.queues.Routes)
	}
	switch {
	case err != nil:
		s.refuse(d, err)
	case s.queues.Routes.Over():
		s.routeLong(d)
	case s.queues.MustAsk(targets, &d.Message):
		s.publishLater(d, routing.Copies(targets, &d.Message))
	default:
		s.routed(d, targets)
	}
}

// check makes all checks of a message.
func (s *publishing) check(d *transfer, payload []byte) error {
	return d.Check(&d.link.publisher.Target, payload, s.queues.Routes, s.access)
}

// refuse informs the client why a message is not published: by the message's outcome, or by detaching the link if the
// client may not publish to its target, or if the message is settled and therefore has no outcome.
func (s *publishing) refuse(d *transfer, err error) {
	e := dialect.ErrorOf(err)
	if d.tx != nil {
		d.tx.Break(e)
	}
	var whole *incoming.LinkError
	if p := d.link.publisher; errors.As(err, &whole) && p != nil && !p.Anonymous {
		state := amqp10.State{Kind: p.Refused}
		if p.Refused == amqp10.Rejected {
			state.Error = e
		}
		s.settle(d, state)
		s.output.write()
		s.up.failLink(d.link, err)
		return
	}
	if d.settled && d.link.publisher != nil && d.tx == nil { // there is no other way to inform the client
		s.output.write()
		s.up.failLink(d.link, d.link.publisher.Blame(err))
		return
	}
	s.settle(d, amqp10.State{Kind: amqp10.Rejected, Error: e})
}

// routed continues once the targets of a message, and the limits of their TTLs, are known.
func (s *publishing) routed(d *transfer, targets []*routing.Target) {
	m := &d.Message
	s.queues.Routed(d.To, len(targets))
	if err := d.CheckTimes(targets, s.queues.Routes); err != nil {
		s.refuse(d, err)
		return
	}
	s.queues.Routes.AllowAnswer(m, targets)
	outcome := amqp10.State{Kind: amqp10.Released}
	if p := d.link.publisher; len(targets) > 0 && d.tx != nil {
		outcome.Kind = amqp10.Accepted
	} else if p != nil {
		outcome.Kind = p.Unroutable
	}
	if d.tx != nil {
		s.keepWork(d, targets, outcome.Kind)
		return
	}
	s.queues.Trace(m, targets)
	if !d.settled && len(targets) > 0 {
		m.Number = s.publishes.Append(publish{Link: d.link, ID: d.id, Batch: d.batch, At: d.at, Queues: int32(len(targets))})
	}
	s.queues.Publish(m, targets, s.queues.Routes.Histories(), s.queues.Routes.Caps(), !d.settled)
	if len(targets) > 0 {
		return
	}
	if d.settled || outcome.Kind == amqp10.Accepted {
		s.counts.Dropped++
	} else {
		s.counts.Returned++
	}
	s.settle(d, outcome)
}

// confirmed handles a queue's answer to a batch.
func (s *publishing) confirmed(m *mail.EnqueueReply) {
	var why *amqp10.Error
	if m.Why != nil {
		why = entities.ErrorOf(m.Why)
	}
	answered := s.publishes.Answered(m, why, func(p publish, state amqp10.State) {
		if state.Kind == amqp10.Accepted {
			s.counts.Confirm++
		}
		s.conclude(p.Batch, outcome{p.Link, p.ID, state})
	})
	if p := s.queues.Peers.Find(m.Queue); p != nil {
		s.queues.Peers.Answered(p, answered)
	}
}

// settle sends a message's outcome to the client, if it expects one.
func (s *publishing) settle(d *transfer, state amqp10.State) {
	if !d.settled {
		s.conclude(d.batch, outcome{d.link, d.id, state})
	}
}

// conclude sends an outcome to the client, once the whole batch has one.
func (s *publishing) conclude(b *settlement.Batch, o outcome) {
	switch {
	case b != nil && !b.Ends(&o.state):
	case b != nil && b.Asked != 0:
		s.in.Answered(&input.Result{ID: b.Asked, Err: settlement.Refused(&o.state)})
	default:
		s.output.outcome(o)
	}
}
