package entities

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol/amqp10"
)

// receive answers with deferred messages. Messages that do not exist or do not fit are omitted.
func (a *asked) receive(q *topology.Queue) {
	seqs, ok := numbersOf(a, q)
	mode, given := a.Field("receiver-settle-mode").(uint32)
	if !ok || !given || mode > 1 {
		a.answer(400, "sequence-numbers and receiver-settle-mode are required", amqp10.InvalidField, nil)
		return
	}
	a.Know(q.PID)
	a.Send(q.PID, &mail.ReceiveDeferred{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			a.received(q, reply.(*mail.ReceiveDeferredReply).Deliveries)
		}),
		Channel: a.Self, Seqs: seqs, NoAck: mode == 0, Session: a.session(), Link: a.Text("associated-link-name"), Connection: a.Connection, Queue: q.Name, VHost: a.vhost(),
	})
}

// numbersOf returns the sequence numbers of a request, as the queue counts them.
func numbersOf(a *asked, q *topology.Queue) (seqs []uint64, ok bool) {
	shown, ok := a.Numbers()
	from := numbers.OfQueue(q)
	for _, n := range shown {
		seqs = append(seqs, from.Number(n))
	}
	return seqs, ok
}

func (a *asked) received(q *topology.Queue, all []mail.Delivery) {
	list := amqp10.List{}
	for i := range all {
		d := &all[i]
		entry := amqp10.Map{{Key: "message", Value: nil}}
		facts := factsOf(d, numbers.OfQueue(q), a.Address.IsDeadLetters())
		facts.Deferred = true
		if d.Number != 0 {
			facts.Token = servicebus.NewLockToken(d.Facts.Lock, d.Facts.Seq)
			entry = append(entry, amqp10.Entry{Key: "lock-token", Value: facts.Token.UUID()})
		}
		head, body, err := dialect.Append(nil, &d.Message, dialect.Outgoing{Redelivered: d.Redelivered, Entity: servicebus.Describe(facts)})
		if err != nil { // as on links
			head, body = amqp10.AppendDataHead(nil, len(d.Message.Body)), d.Message.Body
		}
		a.count(d)
		a.Trace(q.Name, d)
		entry[0].Value = append(head, body...)
		list = append(list, entry)
	}
	if len(list) == 0 {
		a.notFound()
		return
	}
	a.answer(200, "OK", "", amqp10.Map{{Key: "messages", Value: list}})
}

func (a *asked) count(d *mail.Delivery) {
	if d.Number == 0 {
		a.Counts.GetNoAck++
	} else {
		a.Counts.Get++
	}
	if d.Redelivered {
		a.Counts.Redeliver++
	}
}

// settle settles messages by their locks, received by any link: all or none.
func (a *asked) settle(q *topology.Queue) {
	tokens, ok := a.LockTokens()
	how, outcome, known, err := a.disposition()
	switch {
	case !ok || !known:
		a.answer(400, "disposition-status and lock-tokens are required", amqp10.InvalidField, nil)
		return
	case err != nil:
		e := dialect.ErrorOf(err)
		a.answer(400, e.Description, e.Condition, nil)
		return
	}
	m := &mail.SettleLocked{Locks: locksOf(tokens), How: how, Outcome: outcome, Connection: a.Connection, Queue: q.Name, VHost: a.vhost()}
	m.Request = a.Ask(func(reply any, err error) {
		switch settled, _ := reply.(*mail.SettleLockedReply); {
		case err != nil:
			a.failed(err)
		case !settled.Held:
			a.lockLost()
		default:
			if how == mail.Ack {
				a.Counts.Ack += uint64(len(tokens))
			}
			a.answer(200, "OK", "", nil)
		}
	})
	a.Send(q.PID, m)
}

func (a *asked) lockLost() {
	lost := servicebus.ErrLockLost()
	a.answer(410, lost.Description, lost.Condition, nil)
}

// disposition parses the settlement in a request. The error is returned's.
func (a *asked) disposition() (how mail.Settlement, outcome *mail.Outcome, ok bool, err error) {
	given, _ := a.Field("properties-to-modify").(amqp10.Map)
	switch status, _ := a.Field("disposition-status").(string); status {
	case "completed":
		return mail.Ack, nil, true, nil
	case "abandoned":
		how, outcome, err = returned(mail.Requeue, given, a.Access.Clock)
		return how, outcome, true, err
	case "defered": // sic
		how, outcome, err = returned(mail.Defer, given, a.Access.Clock)
		return how, outcome, true, err
	case "suspended":
		more := dialect.Amendments(given)
		for field, property := range map[string]string{"deadletter-reason": servicebus.DeadLetterReason, "deadletter-description": servicebus.DeadLetterDescription} {
			if text, is := a.Field(field).(string); is {
				more = more.Set(property, text)
			}
		}
		return mail.ToDeadLetters, outcomeOf(more, 0), true, nil
	}
	return 0, nil, false, nil
}
