package session

import (
	"errors"
	"slices"
	"sync"

	"candlemark/actors/channel/routing"
	"candlemark/actors/mail"
	"candlemark/actors/session/batches"
	"candlemark/internal/budget"
	"candlemark/internal/dialect"
	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// linkCredit is how many messages a client may publish on a link ahead of what is settled. It gets more at half of that.
const linkCredit = 170

// publisher is the state of a link that the client sends on.
type publisher struct {
	anonymous     bool   // each message says where it goes
	exchange, key []byte // else all go there
	node          *node  // unless nil, they are requests to that
	entity        bool   // the link is of Azure Service Bus's dialect
	window        uint32 // how many messages the client may send ahead of what is settled
	largest       uint64 // message in bytes
	credit, count uint32
	open          int // messages whose outcome is not told yet, and requests whose answer is not written

	// The delivery of which not all has come.
	begun   bool
	id      uint32
	settled bool
	batched bool // it holds several messages
	part    []byte
	kept    int64 // bytes of part that count among what the connection has begun
}

// forget drops what has come of a delivery.
func (p *publisher) forget(a *budget.Arrivals) {
	a.Drop(p.kept)
	p.begun, p.settled, p.batched, p.part, p.kept = false, false, false, nil, 0
}

// refill gives the client credit on a link, unless that is nil, once half of it is used up, and so much has its outcome.
func (s *state) refill(l *link) {
	if l == nil {
		return
	}
	p := l.publisher
	if p == nil || p.credit > p.window/2 || p.open >= int(p.window) || s.phase != open {
		return
	}
	p.credit = p.window
	s.reply(l.flow(&s.windows))
}

// transfer takes a message, or a part of one.
func (s *state) transfer(t *amqp10.Transfer, payload []byte) {
	if !s.windows.Came() {
		s.fail(amqp10.Errorf(amqp10.WindowViolation, "more transfers than the incoming window allows"))
		return
	}
	l := s.links[t.Handle]
	switch {
	case l == nil:
		s.fail(amqp10.Errorf(amqp10.UnattachedHandle, "transfer for handle %d, which is not attached", t.Handle))
		return
	case l.closing:
		return
	case l.publisher == nil:
		s.fail(amqp10.Errorf(amqp10.NotAllowed, "transfer on a link that the client receives on"))
		return
	}
	p := l.publisher
	if !p.begun && !beginDelivery(s, l, t) {
		return
	}
	if t.DeliveryID.Set && t.DeliveryID.Value != p.id {
		s.fail(amqp10.Errorf(amqp10.InvalidField, "delivery %d begins before delivery %d has ended", t.DeliveryID.Value, p.id))
		return
	}
	if p.settled = p.settled || t.Settled; t.Aborted {
		p.forget(s.cfg.Arrivals)
		s.refill(l)
		return
	}
	if uint64(len(p.part)+len(payload)) > p.largest {
		s.failLink(l, amqp10.Errorf(amqp10.MessageSizeExceeded, "message is larger than the maximum of %d bytes", p.largest))
		return
	}
	if t.More || p.part != nil {
		if !keepPart(s, l, payload) || t.More {
			return
		}
	}
	s.delivery(l, payload)
}

// beginDelivery takes what the first transfer of a delivery says; false: it was refused.
func beginDelivery(s *state, l *link, t *amqp10.Transfer) bool {
	p := l.publisher
	switch {
	case p.credit == 0:
		s.failLink(l, amqp10.Errorf(amqp10.TransferLimitExceeded, "more messages than the credit of the link allows"))
		return false
	case !t.DeliveryID.Set:
		s.fail(amqp10.Errorf(amqp10.InvalidField, "a transfer without delivery-id"))
		return false
	case t.MessageFormat.Or(0) != 0 && !(p.entity && t.MessageFormat.Value == servicebus.BatchFormat):
		s.failLink(l, amqp10.Errorf(amqp10.NotImplemented, "message-format %d is not supported", t.MessageFormat.Value))
		return false
	}
	p.credit--
	p.count++
	p.begun, p.id, p.batched = true, t.DeliveryID.Value, t.MessageFormat.Or(0) != 0
	return true
}

// keepPart keeps a part until the rest comes. It counts among what the client has begun; false: there is no room for it.
func keepPart(s *state, l *link, payload []byte) bool {
	p := l.publisher
	n := int64(len(payload))
	if ok, most := s.cfg.Arrivals.Keep(n); !ok {
		s.failLink(l, amqp10.Errorf(amqp10.ResourceLimitExceeded, "no room for what clients have begun beyond %d bytes", most))
		return false
	}
	p.kept += n
	if free := cap(p.part) - len(p.part); free < len(payload) {
		p.part = slices.Grow(p.part, len(p.part)+2*len(payload))
	}
	p.part = append(p.part, payload...)
	return true
}

// delivery publishes a message that is whole.
func (s *state) delivery(l *link, payload []byte) {
	p := l.publisher
	d := deliveries.Get().(*delivery)
	*d = delivery{link: l, id: p.id, settled: p.settled}
	var debt message.Debt
	if p.part != nil {
		payload = p.part
		d.message.Owned = true
		debt.Owe(s.cfg.Gate, len(payload))
	}
	batched := p.batched
	p.forget(s.cfg.Arrivals)
	if !d.settled {
		p.open++
	}
	switch {
	case p.node != nil: // which may keep it
		ask(s, d, p.node, payload)
	case batched:
		publishBatch(s, d, payload)
	default:
		s.publish(d, payload)
		*d = delivery{}
		deliveries.Put(d)
	}
	debt.Settle() // its batches owe it
	s.refill(l)
}

// delivery is a message on its way to its queues.
type delivery struct {
	link    *link
	id      uint32
	settled bool // nobody waits for its outcome
	batch   *batches.Batch
	at      int32 // in the batch
	content dialect.Content
	message message.Message
	to      *topology.Exchange
	keys    [][]byte // further routing keys
}

// deliveries are reused by messages that are published at once.
var deliveries = sync.Pool{New: func() any { return new(delivery) }}

// publish checks a message and routes it.
func (s *state) publish(d *delivery, payload []byte) {
	err := s.check(d, payload)
	var targets []*routing.Target
	if err == nil {
		targets, err = s.routes.Find(d.to, &d.message, d.keys, d.content.Headers)
	}
	switch {
	case err != nil:
		s.refuse(d, err)
	case s.routes.Over():
		s.routeLong(d)
	default:
		s.routed(d, targets)
	}
}

// check makes all checks of a message.
func (s *state) check(d *delivery, payload []byte) (err error) {
	p, c, m := d.link.publisher, &d.content, &d.message
	read := dialect.Read
	if p.entity {
		read = dialect.ReadEntity
	}
	if d.content, err = read(payload); err != nil {
		return err
	}
	m.Exchange, m.RoutingKey = p.exchange, p.key
	if p.anonymous {
		to, err := dialect.ParseTarget(c.To)
		if err != nil {
			return err
		}
		m.Exchange, m.RoutingKey = []byte(to.Exchange), []byte(to.Key)
	}
	m.Header, m.Body, m.TTL, m.Priority, m.Persistent = c.Header, c.Body, c.TTL, c.Priority, c.Persistent
	x, topics, err := s.routes.Exchange(m.Exchange)
	if err != nil {
		return &linkError{err}
	}
	d.to = x
	if len(c.CC) > 0 {
		m.Overlay = &message.Overlay{CC: c.CC}
		for _, key := range c.CC {
			d.keys = append(d.keys, []byte(key))
		}
	}
	if x.Name == topology.AdminExchange {
		if err := s.command(m); err != nil {
			return err
		}
	}
	if topics {
		if err := s.rights.Topics(x, m.RoutingKey, d.keys); err != nil {
			return &linkError{err}
		}
	}
	if c.HasUserID {
		return s.rights.UserID(c.UserID)
	}
	return nil
}

// command checks that the client may publish an admin command.
func (s *state) command(m *message.Message) error {
	if err := s.rights.Command(m.RoutingKey); err != nil {
		return err
	}
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil {
		return err
	}
	return s.rights.Answer(scan.ReplyTo)
}

// linkError is an error that concerns all that a link with a fixed target sends.
type linkError struct{ error }

func (e *linkError) Unwrap() error { return e.error }

// refuse tells the client why a message is not published: with its outcome, or by detaching the link of a target that it
// cannot publish to.
func (s *state) refuse(d *delivery, err error) {
	e := dialect.ErrorOf(err)
	var whole *linkError
	if p := d.link.publisher; errors.As(err, &whole) && p != nil && !p.anonymous {
		s.settle(d, amqp10.State{Kind: amqp10.Released})
		s.write()
		s.failLink(d.link, err)
		return
	}
	s.settle(d, amqp10.State{Kind: amqp10.Rejected, Error: e})
}

// routed goes on once the targets of a message, and the caps of their TTLs, are known.
func (s *state) routed(d *delivery, targets []*routing.Target) {
	m := &d.message
	s.routes.Count(len(targets))
	s.routes.Routed(d.to, len(targets))
	if d.content.Headers != nil {
		if err := routing.CheckMoments(targets, d.content.Headers, s.cfg.Clock); err != nil {
			s.refuse(d, err)
			return
		}
	}
	if s.tracer.On {
		s.tracer.Published(m, targets, s.chunk)
	}
	if !d.settled && len(targets) > 0 {
		m.Number = s.publishes.Append(publish{link: d.link, id: d.id, batch: d.batch, at: d.at, queues: int32(len(targets))})
	}
	s.counts.Publish++
	s.published.Count(len(m.Body), len(targets), !d.settled)
	caps := s.routes.Caps()
	if histories := s.routes.Histories(); len(histories) > 0 {
		var capped []int64
		if caps != nil {
			capped = caps[len(targets):]
		}
		s.batches.Keep(m, histories, capped, s.chunk)
	}
	if len(targets) > 0 {
		s.batches.Add(m, targets, caps, s.chunk)
		if d.batch.Counts() {
			s.batches.Number(targets)
		}
		return
	}
	if d.settled {
		s.counts.Dropped++
	} else {
		s.counts.Returned++
	}
	s.settle(d, amqp10.State{Kind: amqp10.Released})
}

// publish is one that queues have not confirmed.
type publish struct {
	link    *link
	batch   *batches.Batch // that it is of, nil for none
	id      uint32
	at      int32 // in the batch
	queues  int32 // that have not answered
	refused bool
}

// confirmed takes a queue's answer to a batch.
func (s *state) confirmed(m *mail.EnqueueReply) {
	type waiting struct {
		number uint64
		publish
	}
	var others []waiting
	seqs := m.Seqs
	for _, r := range m.Ranges {
		s.publishes.TakeRange(r.First, r.Last, func(n uint64, p publish) {
			p.refused = p.refused || m.Refused
			if i := n - r.First; i < uint64(len(seqs)) {
				p.batch.Numbered(m.Queue, p.at, seqs[i])
			}
			if p.queues--; p.queues > 0 {
				others = append(others, waiting{n, p})
				return
			}
			state := amqp10.State{Kind: amqp10.Accepted}
			if p.refused {
				state.Kind = amqp10.Rejected
			} else {
				s.counts.Confirm++
			}
			conclude(s, p.batch, outcome{p.link, p.id, state})
		})
		count := int(r.Last - r.First + 1)
		seqs = seqs[min(count, len(seqs)):]
		if p := s.peers.Find(m.Queue); p != nil {
			p.Answered(count)
		}
	}
	for _, w := range others {
		s.publishes.Restore(w.number, w.publish)
	}
}
