package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// newHolder creates the queue that holds the messages of a delayed exchange or topic; it is as durable as the exchange and
// ends with it (DLY-5).
func (qs *queues) newHolder(x *exchange) {
	if x.exchange.HasHolder() {
		holdFor(x, &queue{queue: &topology.Queue{
			Name: topology.HolderName(x.exchange.Name), Incarnation: qs.incarnate(), Type: topology.HolderType, Durable: x.exchange.Durable, User: x.exchange.User,
			Stats: qs.cfg.VHost.NewQueueStats(topology.HolderName(x.exchange.Name)),
		}})
	}
}

func holdFor(x *exchange, q *queue) {
	q.kind, q.holdsFor, x.holder = policies.KindOf(nil), x, q
}

// settings returns the settings of a queue. The queue of a delayed exchange releases messages to the exchange, at the
// rate set by the exchange's policies.
func (qs *queues) settings(q *queue) (policies.Effective, policies.QueueSettings) {
	if q.holdsFor == nil {
		effective := qs.matcher.set.Effective(q.kind, q.queue.Name, q.policiesExcluded()...)
		return effective, qs.settingsOf(q, effective)
	}
	x := q.holdsFor.exchange
	s := policies.HolderSettingsFor(x.Arguments, qs.matcher.set.Effective(policies.KindExchange, x.Name))
	s.HasDLX, s.DeadLetterExchange = true, x.Name
	if x.IsTopic() { // otherwise the router reads the delay (DLY-15)
		s.DelayedMessages = true
		q.schedule(&s)
	}
	return policies.Effective{}, s
}

// show publishes a queue, or sets it as the holder of its exchange.
func (qs *queues) show(q *queue) {
	if q.holdsFor == nil {
		qs.publish(qs.directory.WithQueue(q.queue))
		return
	}
	x, holder := q.holdsFor.exchange, q.queue
	qs.out.add(func() {
		x.SetHolder(holder)
		qs.cfg.VHost.Bump()
	})
}

// dropHolder deletes the holder of a deleted exchange, with its messages (DLY-5).
func (qs *queues) dropHolder(x *exchange, done func()) {
	q := x.holder
	if q == nil || qs.byName[q.queue.Name] != q {
		done()
		return
	}
	qs.deleteAnyway(q, mail.Request{}, done)
}

// reportHeld logs how many messages were deleted with a delayed exchange.
func (qs *queues) reportHeld(q *queue) {
	if q.lost > 0 {
		qs.cfg.Log.Warn().Str("exchange", topology.HeldFor(q.queue.Name)).Int("messages", q.lost).
			Msg("a delayed exchange was deleted with messages that were not due yet; these are lost")
	}
}

// deleted publishes that an exchange is gone and how many messages it held.
func (xs *exchanges) deleted(x *exchange) {
	lost := 0
	if x.holder != nil {
		lost = x.holder.lost
	}
	xs.publishExchangeEvent("exchange.deleted", x.by, x.exchange, lostMessages(lost)...)
}
