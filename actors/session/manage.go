package session

import (
	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/dialect/management"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// largestManagement is the largest request to /management in bytes: as large as a method of 0-9-1, which fits in a frame.
const largestManagement = 128 << 10

// managing is a request to /management that is run.
type managing struct {
	*management.Operation
	state   *state
	request *management.Request
	existed bool // what it declares was there before
	done    func(replyTo string, answer []byte)
}

// manage runs a request to /management.
func manage(s *state, request []byte, done func(replyTo string, answer []byte)) error {
	r, err := management.Read(request)
	if err != nil {
		return err
	}
	m := &managing{state: s, request: r, done: done}
	if m.Operation, err = r.Operation(s.cfg.VHost.Name); err != nil {
		m.refuse(err)
		return nil
	}
	m.run()
	return nil
}

// run does what is wanted, as a client of 0-9-1 would, but for questions.
func (m *managing) run() {
	directory := m.state.cfg.VHost.Directory()
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

// unbind removes a binding of an exchange, which may be nil. One that is not there is fine, for those who may remove it.
func (m *managing) unbind(x *topology.Exchange) {
	if method := m.Bindings.Unbind(x); method != nil {
		m.command(method)
	} else if _, err := m.state.client.For(m.Method); err != nil {
		m.refuse(err)
	} else {
		m.answer(management.Done())
	}
}

// command has a method of 0-9-1 run.
func (m *managing) command(method protocol.Method) {
	s := m.state
	r, err := s.client.For(method)
	if err != nil {
		m.refuse(err)
		return
	}
	s.Send(r.To, r.Mail(s.request(func(reply any, err error) {
		if err != nil {
			if !s.ifMissed(err, m.run) {
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
			tellPurged(s, r.Purges, reply.MessageCount)
			m.answer(management.Emptied(reply.MessageCount))
		default:
			m.answer(management.Done())
		}
	})))
}

// declared answers with the queue.
func (m *managing) declared(reply *mail.DeclareQueueReply) {
	code := 201
	if m.existed {
		code = 200
	}
	m.queue(code, reply.MessageCount, reply.ConsumerCount)
}

// queue answers with what there is to say of a queue.
func (m *managing) queue(code, messages, consumers int) {
	vhost := m.state.cfg.VHost
	q := vhost.Directory().Queue([]byte(m.Name))
	if q == nil { // it has ended meanwhile
		m.noQueue()
		return
	}
	told := management.Queue{Queue: q, VHost: vhost.Name, Node: m.state.cfg.Node, Messages: messages, Consumers: consumers}
	m.answer(told.Answer(code))
}

func (m *managing) noQueue() {
	m.refuse(protocol.ChannelErrorf(protocol.NotFound, "queue '%s' in vhost '%s' not found", m.Name, m.state.cfg.VHost.Name))
}

// describe answers with a queue, of which any right is needed as for a passive declaration. It renews no lease.
func (m *managing) describe() {
	s := m.state
	if err := s.rights.Any(auth.Queue, m.Name); err != nil {
		m.refuse(err)
		return
	}
	q := s.cfg.VHost.Directory().Queue([]byte(m.Name))
	if q == nil {
		m.noQueue()
		return
	}
	s.Send(q.PID, &mail.DescribeQueue{Request: s.request(func(reply any, err error) {
		if err != nil {
			m.refuse(err)
			return
		}
		info := reply.(*mail.QueueInfo)
		m.queue(200, info.Ready, info.Consumers)
	})})
}

// list answers with bindings, for which any right to the destination is needed.
func (m *managing) list() {
	s, b := m.state, &m.Bindings
	kind := auth.Queue
	if b.ToExchange {
		kind = auth.Exchange
	}
	if err := s.rights.Any(kind, b.Destination); err != nil {
		m.refuse(err)
		return
	}
	m.answer(b.List(s.cfg.VHost.Directory().Exchange([]byte(b.Source))))
}

func (m *managing) refuse(err error) {
	a := m.Refused(err)
	if a.Code == 500 {
		m.state.cfg.Log.Error().Err(err).Str("verb", m.request.Verb).Msg("management request failed")
	}
	m.answer(a)
}

func (m *managing) answer(a management.Answer) {
	m.done(m.request.ReplyTo, m.request.Append(nil, a))
}
