package entities

import (
	"errors"

	"candlemark/actors/client/session10/access"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// MaxRequest is the limit for requests to an entity's node, in bytes; these may contain messages to be scheduled.
const MaxRequest = 1 << 20

// Node answers the requests to ENTITY/$management.
type Node struct {
	Queue   string             // of the entity
	Address servicebus.Address // of the node
	Access  *access.Access
	// MaxMessage is the maximum size of a message to the entity in bytes.
	MaxMessage uint64
	// Send and Ask belong to the session (management.Session).
	Send func(to mail.Address, what any)
	Ask  func(done func(reply any, err error)) mail.Request
	// Self is the session, Connection its connection.
	Self, Connection mail.Address
	Counts           *mail.Counts // the session's counts
	// Know registers the queue as a peer, which is informed of the session's end. Trace traces received deferred
	// messages.
	Know  func(queue mail.Address)
	Trace func(queue string, d *mail.Delivery)
	// Publish publishes messages to a queue, all or none, and calls done with their numbers in the queue, 0 for a
	// message that it did not keep. Cancelled is called with the number of cancelled scheduled messages.
	Publish   func(q *topology.Queue, messages [][]byte, done func(numbers []uint64, err error))
	Cancelled func(q *topology.Queue, n int)
}

// vhost returns the name of the virtual host.
func (n *Node) vhost() string { return n.Access.Login.VHost.Name }

// asked is a request in progress.
type asked struct {
	*Node
	*servicebus.Request
	done func(replyTo string, answer []byte)
}

// Run executes an encoded request, and calls done with the encoded answer and its reply-to. The error, an
// *amqp10.Error, is for an invalid request.
func (n *Node) Run(request []byte, done func(replyTo string, answer []byte)) error {
	r, err := servicebus.Read(request)
	if err != nil {
		return err
	}
	a := &asked{n, r, done}
	writes := r.Operation == servicebus.ScheduleMessage || r.Operation == servicebus.CancelScheduled
	may, err := n.Access.RightsAt(n.Address.Text)
	switch r.Operation {
	case servicebus.AddRule, servicebus.RemoveRule, servicebus.EnumerateRules:
		if err != nil {
			a.failed(err)
		} else {
			a.rules(may)
		}
		return nil
	}
	var q *topology.Queue
	switch {
	case err != nil:
	case writes:
		q, err = a.writable(may)
	case r.Operation == servicebus.PeekMessage, r.Operation == servicebus.ListSessions: // read-only, so allowed with any status
		q, err = may.MayPeek(n.Queue)
	default:
		q, err = may.MayReceive(n.Queue)
	}
	if err == nil {
		err = mail.Locked(q, n.Connection, a.vhost())
	}
	switch {
	case err != nil:
		a.failed(err)
	case n.Address.IsEmpty():
		a.empty()
	case r.Operation == servicebus.ScheduleMessage:
		a.schedule(q)
	case writes:
		a.cancel(q)
	case r.Operation == servicebus.PeekMessage:
		a.peek(q)
	case r.Operation == servicebus.RenewLock:
		a.renew(q)
	case r.Operation == servicebus.DeleteMessages:
		a.delete(q)
	case r.Operation == servicebus.ReceiveByNumber:
		a.receive(q)
	case r.Operation == servicebus.Dispose:
		a.settle(q)
	case r.Operation == servicebus.RenewSession, r.Operation == servicebus.SessionState, r.Operation == servicebus.SetSessionState:
		a.useSession(q)
	case r.Operation == servicebus.ListSessions:
		a.listSessions(q)
	default:
		a.answer(501, "the operation '"+r.Operation+"' is not supported", amqp10.NotImplemented, nil)
	}
	return nil
}

func (a *asked) answer(code int32, text string, condition amqp10.Symbol, body amqp10.Map) {
	a.done(a.ReplyTo, a.Answer(nil, code, text, condition, body))
}

// failed answers a request with an error.
func (a *asked) failed(err error) {
	e, code := ErrorOf(err), int32(500)
	var refused *protocol.ChannelError
	var own *amqp10.Error
	switch {
	case !errors.As(err, &own):
	case own.Condition == amqp10.NotImplemented:
		code = 501
	case own.Condition == amqp10.NotFound:
		code = 404
	case own.Condition == amqp10.ResourceLimitExceeded:
		code = 403
	case own.Condition == amqp10.UnauthorizedAccess:
		code = 401
	default:
		code = 400
	}
	if errors.As(err, &refused) {
		switch refused.Code {
		case protocol.NotFound:
			code = 404
		case protocol.AccessRefused:
			code = 401
		default:
			code = 400
		}
	}
	switch {
	case e.Condition == servicebus.SessionLost:
		code = 410
	case e.Condition == amqp10.NotAllowed, e.Condition == amqp10.InvalidField:
		code = 400
	}
	a.answer(code, e.Description, e.Condition, nil)
}

// empty answers as for a queue without messages.
func (a *asked) empty() {
	switch a.Operation {
	case servicebus.PeekMessage, servicebus.ListSessions, servicebus.DeleteMessages:
		a.answer(204, "No Content", "", nil)
	case servicebus.ReceiveByNumber:
		a.notFound()
	default:
		a.failed(amqp10.Errorf(amqp10.NotAllowed, "'%s' never contains messages", a.Address.Text))
	}
}

// peek answers with messages, by ascending number.
func (a *asked) peek(q *topology.Queue) {
	first, _ := a.Field("from-sequence-number").(int64)
	from := numbers.OfQueue(q)
	count, _ := a.Field(servicebus.MessageCount).(int32)
	withoutBody, _ := a.Field("omit-message-body").(bool)
	a.Send(q.PID, &mail.Peek{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			list := amqp10.List{}
			for _, m := range reply.(*mail.PeekReply).Messages {
				if encoded, ok := peeked(&m, from, a.Address.IsDeadLetters()); ok {
					if withoutBody {
						encoded = servicebus.WithoutBody(encoded)
					}
					list = append(list, amqp10.Map{{Key: "message", Value: encoded}})
				}
			}
			if len(list) == 0 {
				a.answer(204, "No Content", "", nil)
				return
			}
			a.answer(200, "OK", "", amqp10.Map{{Key: "messages", Value: list}})
		}),
		After: mail.Cursor{Seq: max(from.Number(first), 1) - 1}, Limit: int(max(count, 1)), ByNumber: true, Session: a.session(), Link: a.Text("associated-link-name"), Connection: a.Connection, Cut: -1, Whole: true, Queue: q.Name, VHost: a.vhost(),
	})
}

// peeked encodes a message of a queue with those numbers as its receiver would get it; deadLetters is set if it is in a dead-letter queue. ok is
// false if it cannot be read at present.
func peeked(m *mail.PeekedMessage, from numbers.Of, deadLetters bool) (encoded []byte, ok bool) {
	if m.Unreadable {
		return nil, false
	}
	count := m.Returns.Failed()
	if deadLetters {
		count = m.DiedAfter
	}
	facts := servicebus.Facts{Seq: from.Shown(m.Seq), Enqueued: m.Enqueued, Expires: m.Expires, Due: m.Due, DeliveryCount: count, Deferred: m.Deferred}
	if o := m.Message.Overlay; o != nil {
		facts.DiedIn, facts.DiedOf, facts.Scheduled = o.Last.Queue, o.Last.Reason, o.Held && !o.Dead()
	}
	head, body, err := dialect.Append(nil, &m.Message, dialect.Outgoing{Redelivered: m.Redelivered, Entity: servicebus.Describe(facts)})
	return append(head, body...), err == nil
}

// renew renews locks, and answers with their new ends. If one is lost, the others are still renewed.
func (a *asked) renew(q *topology.Queue) {
	tokens, ok := a.LockTokens()
	if !ok {
		a.answer(400, "lock-tokens are required", amqp10.InvalidField, nil)
		return
	}
	m := &mail.RenewLock{Locks: locksOf(tokens), Queue: q.Name, VHost: a.vhost()}
	m.Request = a.Ask(func(reply any, err error) {
		if err != nil {
			a.failed(err)
			return
		}
		ends := amqp10.Array{Of: amqp10.TypeTimestamp}
		for _, l := range m.Locks {
			until, held := reply.(*mail.RenewLockReply).Until[l]
			if !held {
				a.lockLost()
				return
			}
			ends.Values = append(ends.Values, amqp10.Timestamp(until))
		}
		a.answer(200, "OK", "", amqp10.Map{{Key: "expirations", Value: ends}})
	})
	a.Send(q.PID, m)
}

// locksOf returns the locks of lock tokens.
func locksOf(tokens []servicebus.LockToken) (all []mail.Lock) {
	for _, t := range tokens {
		lock, seq := t.Delivery()
		all = append(all, mail.Lock{Seq: seq, Lock: lock})
	}
	return all
}
