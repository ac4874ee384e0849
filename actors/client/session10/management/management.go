package management

import (
	"candlemark/actors/client/requests"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/management"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// MaxRequest is the limit for requests, in bytes: the same as for a method of 0-9-1, which fits into a frame.
const MaxRequest = 128 << 10

// Session is the environment of requests.
type Session struct {
	Client *requests.Client
	Node   string // name of the broker
	Log    zerolog.Logger
	// Send sends mail. Ask sends numbered mail, and calls done with the reply or error.
	Send func(to mail.Address, what any)
	Ask  func(done func(reply any, err error)) mail.Request
	// Missed reports whether err means that a queue ended before it saw its mail; if so, it calls again once the queue
	// is back or known to be gone.
	Missed func(err error, again func()) bool
	// Purged is called for a purged queue.
	Purged func(q *topology.Queue, messages int)
}

// run is a request in progress.
type run struct {
	*management.Operation
	s       *Session
	request *management.Request
	existed bool // the declared object existed before
	done    func(replyTo string, answer []byte)
}

// Run executes an encoded request, and calls done with the encoded answer and its reply-to. The error, an
// *amqp10.Error, is for an invalid request.
func (s *Session) Run(request []byte, done func(replyTo string, answer []byte)) error {
	r, err := management.Read(request)
	if err != nil {
		return err
	}
	m := &run{s: s, request: r, done: done}
	if m.Operation, err = r.Operation(s.Client.VHost.Name); err != nil {
		m.refuse(err)
		return nil
	}
	m.begin()
	return nil
}

// begin executes the operation, as for a client of 0-9-1, except for queries.
func (m *run) begin() {
	directory := m.s.Client.VHost.Directory()
	switch m.Kind {
	case management.DescribeQueue:
		m.describe()
		return
	case management.ListBindings:
		m.list()
		return
	case management.Unbind:
		m.unbind(directory.Exchange([]byte(m.Bindings.Source)))
		return
	case management.DeclareQueue:
		m.existed = directory.Queue([]byte(m.Name)) != nil
	case management.DeleteQueue, management.PurgeQueue, management.DeclareExchange, management.DeleteExchange, management.Bind:
	}
	m.command(m.Method)
}

// unbind removes a binding of an exchange, which may be nil. For users who may remove the binding it is not an error if
// it does not exist.
func (m *run) unbind(x *topology.Exchange) {
	if method := m.Bindings.Unbind(x); method != nil {
		m.command(method)
	} else if _, err := m.s.Client.For(m.Method); err != nil {
		m.refuse(err)
	} else {
		m.answer(management.Done())
	}
}

// command executes a method of 0-9-1.
func (m *run) command(method protocol.Method) {
	s := m.s
	r, err := s.Client.For(method)
	if err != nil {
		m.refuse(err)
		return
	}
	s.Send(r.To, r.Mail(s.Ask(func(reply any, err error) {
		if err != nil {
			if !s.Missed(err, m.begin) {
				m.refuse(err)
			}
			return
		}
		switch reply := reply.(type) {
		case *mail.DeclareQueueReply:
			m.declared(reply)
		case *mail.DeleteQueueReply:
			m.answer(management.Emptied(reply.MessageCount))
		case *mail.PurgeReply:
			s.Purged(r.Purges, reply.MessageCount)
			m.answer(management.Emptied(reply.MessageCount))
		default:
			m.answer(management.Done())
		}
	})))
}

// declared answers with the declared queue.
func (m *run) declared(reply *mail.DeclareQueueReply) {
	code := 201
	if m.existed {
		code = 200
	}
	m.queue(code, reply.MessageCount, reply.ConsumerCount)
}

// queue answers with the description of a queue.
func (m *run) queue(code, messages, consumers int) {
	m.queueOf(m.s.Client.VHost.Directory().Queue([]byte(m.Name)), code, messages, consumers)
}

func (m *run) queueOf(q *topology.Queue, code, messages, consumers int) {
	if q == nil { // missing, or ended in the meantime
		m.noQueue()
		return
	}
	described := management.Queue{Queue: q, VHost: m.s.Client.VHost.Name, Node: m.s.Node, Messages: messages, Consumers: consumers}
	m.answer(described.Answer(code))
}

func (m *run) noQueue() {
	m.refuse(protocol.ChannelErrorf(protocol.NotFound, "queue '%s' in vhost '%s' not found", m.Name, m.s.Client.VHost.Name))
}

// describe answers with a queue, which needs any permission, as for a passive declare. It does not renew the lease.
func (m *run) describe() {
	s := m.s
	if topology.IsReplyName([]byte(m.Name)) { // the client checks whether the requester still exists
		m.queueOf(s.Client.VHost.Requester([]byte(m.Name)), 200, 0, 1)
		return
	}
	if err := s.Client.Any(auth.Queue, m.Name); err != nil {
		m.refuse(err)
		return
	}
	q := s.Client.VHost.Directory().Queue([]byte(m.Name))
	if q == nil {
		m.noQueue()
		return
	}
	if err := mail.Locked(q, s.Client.Connection, s.Client.VHost.Name); err != nil {
		m.refuse(err)
		return
	}
	s.Send(q.PID, &mail.DescribeQueue{Request: s.Ask(func(reply any, err error) {
		if err != nil {
			m.refuse(err)
			return
		}
		info := reply.(*mail.QueueInfo)
		m.queue(200, info.Ready, info.Consumers)
	})})
}

// list answers with bindings, which needs the permissions for creating them.
func (m *run) list() {
	c, b := m.s.Client, &m.Bindings
	source, kind := c.VHost.Directory().Exchange([]byte(b.Source)), auth.Queue
	if b.ToExchange {
		kind = auth.Exchange
	}
	err := c.Check(kind, b.Destination, auth.Write)
	if err == nil {
		err = c.Check(auth.Exchange, b.Source, auth.Read)
	}
	if err == nil && source != nil && source.Type == "topic" {
		err = c.Topic(b.Source, b.Key, auth.Read)
	}
	if err != nil {
		m.refuse(err)
		return
	}
	m.answer(b.List(source))
}

func (m *run) refuse(err error) {
	a := m.Refused(err)
	if a.Code == 500 {
		m.s.Log.Error().Err(err).Str("verb", m.request.Verb).Msg("management request failed")
	}
	m.answer(a)
}

func (m *run) answer(a management.Answer) {
	m.done(m.request.ReplyTo, m.request.Append(nil, a))
}
