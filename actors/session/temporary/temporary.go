package temporary

import (
	"candlemark/actors/channel/requests"
	"candlemark/actors/mail"
	"candlemark/internal/dialect"
	"candlemark/internal/events"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Queues are the temporary queues of a session.
type Queues struct {
	Client    *requests.Client
	Container string // container-id of the client
	By        *events.Origin
	// Send sends mail. Ask sends numbered mail, and calls done with the reply or error.
	Send func(to mail.Address, what any)
	Ask  func(done func(reply any, err error)) mail.Request
}

// Attach declares an exclusive queue for a dynamic source or target, and then calls attach with an attach to that
// queue. If either fails, it calls failed. Errors: amqp:not-implemented, *protocol.ChannelError.
func (q *Queues) Attach(m *amqp10.Attach, attach func(*amqp10.Attach) error, failed func(error)) error {
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
func (q *Queues) End(name string, done func()) {
	if name == "" {
		done()
		return
	}
	q.delete(name, q.Ask(func(any, error) { done() }))
}

// Drop deletes a queue unless its name is "", without waiting.
func (q *Queues) Drop(name string) {
	if name != "" {
		q.delete(name, mail.Request{By: q.By})
	}
}

func (q *Queues) delete(name string, r mail.Request) {
	v := q.Client.VHost
	q.Send(v.PID, &mail.DeleteQueue{Request: r, Name: name, Connection: q.Client.Connection, VHost: v.Name})
}
