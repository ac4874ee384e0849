package session10

import (
	"candlemark/actors/client/requests"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// This part declares and deletes the temporary queues of a session's links (DEC-18).
//
// Owns: nothing. The session records the queue of each link.

// temporaryQueues are the temporary queues of a session.
type temporaryQueues struct {
	Client    *requests.Client
	Container string // container-id of the client
	By        *events.Origin
	// Send sends mail. Ask sends numbered mail, and calls done with the reply or error.
	Send func(to mail.Address, what any)
	Ask  func(done func(reply any, err error)) mail.Request
}

// Attach declares an exclusive queue for a dynamic source or target, and then calls attach with an attach to that
// queue. If either fails, it calls failed. Errors: amqp:not-implemented, *protocol.ChannelError.
func (q *temporaryQueues) Attach(m *amqp10.Attach, attach func(*amqp10.Attach) error, failed func(error)) error {
	name, err := dialect.TemporaryName(m, q.Container, requests.Generated(""))
	if err != nil {
		return err
	}
	if m.Role == amqp10.RoleSender { // otherwise the queue would be created before the link is refused
		if _, err := q.Client.Rights.Writable(nil); err != nil {
			return err
		}
	}
	r, err := q.Client.For(&protocol.QueueDeclare{Queue: name, Durable: true, Exclusive: true})
	if err != nil {
		return err
	}
	declare := r.Mail(q.Ask(func(reply any, err error) {
		if err != nil {
			failed(err)
			return
		}
		name := reply.(*mail.DeclareQueueReply).Name
		if err := attach(dialect.AtTemporary(m, name)); err != nil {
			q.Drop(name)
			failed(err)
		}
	})).(*mail.DeclareQueue)
	declare.Generated = true
	q.Send(r.To, declare)
	return nil
}

// End deletes a queue unless its name is "", and then calls done.
func (q *temporaryQueues) End(name string, done func()) {
	if name == "" {
		done()
		return
	}
	q.delete(name, q.Ask(func(any, error) { done() }))
}

// Drop deletes a queue unless its name is "", without waiting.
func (q *temporaryQueues) Drop(name string) {
	if name != "" {
		q.delete(name, mail.Request{By: q.By})
	}
}

func (q *temporaryQueues) delete(name string, r mail.Request) {
	v := q.Client.VHost
	q.Send(v.PID, &mail.DeleteQueue{Request: r, Name: name, Connection: q.Client.Connection, VHost: v.Name})
}
