package entities

import (
	"maps"
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/dialect"
	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/topology"
	"candlemark/protocol/amqp10"
)

// Held are the deferred messages that a session has received by their numbers and has not settled: queues lock them for it. The zero value has
// none. It has no more than there are messages.
type Held struct {
	numbers map[lock]uint64 // the queue's of the delivery
}

// lock is the lock of a message: tokens of two queues may be equal.
type lock struct {
	queue string // id of the actor
	token servicebus.LockToken
}

// Len is how many there are.
func (h *Held) Len() int { return len(h.numbers) }

// Returned forgets what a queue took back.
func (h *Held) Returned(m *mail.DeliveriesReturned) {
	maps.DeleteFunc(h.numbers, func(l lock, n uint64) bool { return l.queue == m.Queue.GetId() && m.Covers(n) })
}

// Gone forgets what a queue has locked that ended.
func (h *Held) Gone(queue mail.Address) {
	maps.DeleteFunc(h.numbers, func(l lock, _ uint64) bool { return l.queue == queue.GetId() })
}

func (h *Held) add(queue mail.Address, token servicebus.LockToken, number uint64) {
	if h.numbers == nil {
		h.numbers = map[lock]uint64{}
	}
	h.numbers[lock{queue.GetId(), token}] = number
}

// take forgets locks and returns the numbers of their deliveries in order; false, and nothing is forgotten: one of them is not held.
func (h *Held) take(queue mail.Address, tokens []servicebus.LockToken) (numbers []uint64, ok bool) {
	for _, t := range tokens {
		n, held := h.numbers[lock{queue.GetId(), t}]
		if !held {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	for _, t := range tokens {
		delete(h.numbers, lock{queue.GetId(), t})
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), true
}

// receive answers with deferred messages. What is not there is left out, and so is what there is no room for.
func (a *asked) receive(q *topology.Queue) {
	numbers, ok := a.Numbers()
	mode, given := a.Field("receiver-settle-mode").(uint32)
	if !ok || !given || mode > 1 {
		a.answer(400, "sequence-numbers and a receiver-settle-mode are wanted", amqp10.InvalidField, nil)
		return
	}
	a.Know(q.PID)
	a.Send(q.PID, &mail.ReceiveDeferred{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			a.received(q, reply.(*mail.DeferredReceived).Deliveries)
		}),
		Channel: a.Self, Seqs: numbers, NoAck: mode == 0, Session: a.session(), Link: a.Text("associated-link-name"), Connection: a.Connection, Queue: q.Name, VHost: a.vhost(),
	})
}

func (a *asked) received(q *topology.Queue, all []mail.Delivery) {
	list := amqp10.List{}
	for i := range all {
		d := &all[i]
		entry := amqp10.Map{{Key: "message", Value: nil}}
		facts := factsOf(d)
		facts.Deferred = true
		if d.Number != 0 {
			facts.Token = servicebus.NewLockToken(d.Facts.Lock, d.Facts.Seq)
			a.Held.add(q.PID, facts.Token, d.Number)
			entry = append(entry, amqp10.Entry{Key: "lock-token", Value: facts.Token.UUID()})
		}
		header, err := d.Message.Overlay.Header(d.Message.Header)
		var head, body []byte
		if err == nil {
			head, body, err = dialect.Append(nil, &d.Message, header, dialect.Delivery{Redelivered: d.Redelivered, Entity: servicebus.Tell(facts)})
		}
		if err != nil { // as on links
			head, body = amqp10.AppendDataHead(nil, len(d.Message.Body)), d.Message.Body
		}
		a.count(d)
		a.Trace(q.Name, d, header)
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

// settle settles deferred messages that were received on this session: all of them, or none.
func (a *asked) settle(q *topology.Queue) {
	tokens, ok := a.LockTokens()
	how, outcome, known := a.disposition()
	if !ok || !known {
		a.answer(400, "a disposition-status and lock-tokens are wanted", amqp10.InvalidField, nil)
		return
	}
	numbers, ok := a.Held.take(q.PID, tokens)
	if !ok {
		a.lockLost()
		return
	}
	if how == mail.Ack {
		a.Counts.Ack += uint64(len(numbers))
	}
	asks := a.Ask(func(reply any, err error) {
		settled, _ := reply.(*mail.Settled)
		switch {
		case err != nil:
			a.failed(err)
		case len(settled.Lost) > 0:
			a.lockLost()
		default:
			a.answer(200, "OK", "", nil)
		}
	})
	a.Send(q.PID, &mail.Settle{Channel: a.Self, Ranges: Ranges(numbers, how, outcome), Asked: &asks})
}

func (a *asked) lockLost() {
	lost := servicebus.ErrLockLost()
	a.answer(410, lost.Description, lost.Condition, nil)
}

// disposition reads how a request settles messages.
func (a *asked) disposition() (how mail.Settlement, outcome *mail.Outcome, ok bool) {
	given, _ := a.Field("properties-to-modify").(amqp10.Map)
	more := servicebus.Modified(&amqp10.State{MessageAnnotations: given})
	switch status, _ := a.Field("disposition-status").(string); status {
	case "completed":
		return mail.Ack, nil, true
	case "abandoned":
		return mail.Requeue, outcomeOf(more), true
	case "defered": // so it is spelled
		return mail.Defer, outcomeOf(more), true
	case "suspended":
		for field, property := range map[string]string{"deadletter-reason": "DeadLetterReason", "deadletter-description": "DeadLetterErrorDescription"} {
			if text, is := a.Field(field).(string); is {
				more = more.Set(property, text)
			}
		}
		return mail.Reject, outcomeOf(more), true
	}
	return 0, nil, false
}
