package session10

import (
	"slices"

	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// startWork connects transactions to their session, which has its address by then.
func (s *state) startWork() {
	s.work = work.Session[*link]{
		Self: s.Self(), Connection: s.cfg.Connection, Known: s.cfg.Transactions, Arrivals: s.cfg.Arrivals, Clock: s.cfg.Clock, Unacked: &s.queues.Unacked, Owners: &s.output.owners, Elsewhere: &s.settling.elsewhere,
		Send: s.Send, Reply: s.output.reply, Resume: s.in.EndWait,
		Wait: func(done func(any, error)) mail.Request {
			r := s.queues.Request(done)
			s.in.Patient()
			return r
		},
		Number: s.in.Request,
		Attached: func(l *link) (there bool, d dialects.Dialect) {
			if l.consumer == nil { // detached by the broker
				return false, &dialects.RabbitMQ{}
			}
			return s.links[l.handle] == l, l.dialect
		},
		Permitted: func(copies int, then func()) { s.queues.WhenPermitted(copies, 0, then) },
		Publish:   func(all []work.Publish, b *settlement.Batch) { s.publishing.publishWork(all, b) },
	}
}

// attachCoordinator attaches a link for declaring and discharging transactions.
func (s *state) attachCoordinator(m *amqp10.Attach) {
	const maxRequest = 4096 // in bytes
	l := &link{handle: m.Handle, name: m.Name, publisher: &publisher{
		Link: incoming.Link{Window: incoming.Credit, MaxMessageSize: maxRequest, Mode: amqp10.SenderMixed, Count: m.InitialDeliveryCount.Or(0)}, coordinator: true,
	}}
	s.links[m.Handle] = l
	s.output.reply(work.Attached(dialect.AttachedTarget(m, maxRequest)))
	s.output.refill(l)
}

// keepWork stores a routed message for the commit.
func (s *publishing) keepWork(d *transfer, targets []*routing.Target, outcome amqp10.StateKind) {
	s.settle(d, d.tx.Keep(work.Publish{
		Message: d.Message, To: d.To, Queues: routing.Queues(targets), Histories: routing.Queues(s.queues.Routes.Histories()), Caps: slices.Clone(s.queues.Routes.Caps()),
	}, outcome))
}

// publishWork publishes the messages of a transaction, which queues have agreed to accept.
func (s *publishing) publishWork(all []work.Publish, b *settlement.Batch) {
	for i := range all {
		p := &all[i]
		m, targets, histories := &p.Message, s.queues.Batches.Targets(p.Queues), s.queues.Batches.Targets(p.Histories)
		if p.Confirmed() {
			m.Number = s.publishes.Append(publish{Batch: b, Queues: int32(len(targets))})
		}
		s.queues.Routes.Routed(p.To, len(targets))
		s.queues.Trace(m, targets)
		s.queues.Publish(m, targets, histories, p.Caps, true)
	}
	s.queues.Batches.MarkPrepared()
	s.queues.Flush()
}
