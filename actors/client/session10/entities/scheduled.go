package entities

import (
	"candlemark/actors/client/session10/access"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// writable resolves the entity for scheduling and cancelling: a queue with scheduled messages. A topic has several
// queues and therefore no message numbers.
func (a *asked) writable(may *access.Rights) (*topology.Queue, error) {
	vhost := may.VHost
	if a.Operation == servicebus.ScheduleMessage && !a.Address.MaySchedule() {
		return nil, amqp10.Errorf(amqp10.NotAllowed, "messages cannot be sent to '%s'", a.Queue)
	}
	q, x := vhost.Directory().Queue([]byte(a.Queue)), vhost.Directory().Exchange([]byte(a.Queue))
	topic := q == nil && x != nil
	if err := may.MayAlter(a.Queue, topic); err != nil {
		return nil, err
	}
	if err := may.Sends(a.Queue); err != nil {
		return nil, err
	}
	switch {
	case q != nil:
		if m := q.Schedules.Config(); m == nil || !m.Schedules {
			return nil, amqp10.Errorf(amqp10.NotAllowed, "queue '%s' does not accept scheduled messages: set delayed-messages to true", a.Queue)
		}
		return q, nil
	case topic && x.IsTopic() && x.Holder() != nil:
		return x.Holder(), nil
	case topic:
		return nil, amqp10.Errorf(amqp10.NotImplemented, "exchange '%s' is not an Azure Service Bus topic: it cannot schedule messages", a.Queue)
	}
	return nil, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", a.Queue, vhost.Name)
}

// schedule publishes messages with their due times, all or none, and answers with their numbers.
func (a *asked) schedule(q *topology.Queue) {
	messages, ok := a.Messages()
	if !ok {
		a.answer(400, "messages are required", amqp10.InvalidField, nil)
		return
	}
	for _, m := range messages {
		if uint64(len(m)) > a.MaxMessage { // SBE-17
			a.failed(amqp10.Errorf(amqp10.MessageSizeExceeded, "message is larger than the maximum of %d bytes", a.MaxMessage))
			return
		}
	}
	a.Publish(q, messages, func(seqs []uint64, err error) {
		if err != nil {
			a.failed(err)
			return
		}
		list := amqp10.Array{Of: amqp10.TypeLong}
		from := numbers.OfQueue(q)
		for _, n := range seqs {
			list.Values = append(list.Values, from.Shown(n))
		}
		a.answer(200, "OK", "", amqp10.Map{{Key: "sequence-numbers", Value: list}})
	})
}

// cancel cancels scheduled messages, all or none.
func (a *asked) cancel(q *topology.Queue) {
	seqs, ok := numbersOf(a, q)
	if !ok {
		a.answer(400, "sequence-numbers are required", amqp10.InvalidField, nil)
		return
	}
	a.Send(q.PID, &mail.ChangeScheduled{
		Cancel: true,
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			n := reply.(*mail.ChangeScheduledReply).Count
			a.Cancelled(q, n)
			if n == 0 {
				a.notFound()
				return
			}
			a.answer(200, "OK", "", nil)
		}),
		Seqs: seqs, Queue: q.Name, VHost: a.vhost(),
	})
}

func (a *asked) notFound() {
	none := servicebus.ErrNotFound()
	a.answer(404, none.Description, none.Condition, nil)
}
