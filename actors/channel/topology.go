package channel

import (
	"cmp"
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// stripped is a name as RabbitMQ takes it: without CR and LF (DEC-8).
func stripped(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(name)
}

func (s *state) declareQueue(m *protocol.QueueDeclare) error {
	name := stripped(m.Queue)
	if topology.IsReserved(name) {
		return s.declareReply(m, name)
	}
	if err := s.mayDeclare(m, name); err != nil {
		return err
	}
	s.send(s.cfg.VHost.PID, &mail.DeclareQueue{
		Request: s.request(m, func(reply any) {
			r := reply.(*mail.DeclareQueueReply)
			s.lastQueue = r.Name
			if !m.NoWait {
				s.reply(&protocol.QueueDeclareOk{Queue: r.Name, MessageCount: uint32(r.MessageCount), ConsumerCount: uint32(r.ConsumerCount)})
			}
		}),
		Name: name, Passive: m.Passive, Durable: m.Durable, Exclusive: m.Exclusive, AutoDelete: m.AutoDelete, NoWait: m.NoWait,
		Arguments: m.Arguments, Connection: s.cfg.Connection, VHost: s.cfg.VHost.Name,
	})
	return nil
}

// mayDeclare is configure on the queue and, for a new one that sends messages on to
// an exchange, read on the queue and write on the exchange (DL-3); and configure on
// the dead-letter queue that the broker is to make. A name that the server will
// choose is checked by one like it.
func (s *state) mayDeclare(m *protocol.QueueDeclare, name string) error {
	if m.Passive {
		return s.permitAny(auth.Queue, name)
	}
	if name == "" {
		name = generated("amq.gen-")
	}
	if err := s.permit(auth.Queue, name, auth.Configure); err != nil {
		return err
	}
	if s.cfg.VHost.Directory().Queue([]byte(name)) != nil {
		return nil
	}
	for _, argument := range []string{"x-dead-letter-exchange", "x-forward-to"} {
		v, _ := m.Arguments.Get(argument)
		if to, isText := v.(string); isText {
			if err := s.mayLead(auth.Queue, name, to); err != nil {
				return err
			}
		}
	}
	if v, _ := m.Arguments.Get("x-dead-letter-queue"); v == true {
		return s.permit(auth.Queue, cmp.Or(policies.DeadLetterQueueOf(name), name), auth.Configure)
	}
	return nil
}

// mayLead is what it takes to make something that sends messages on to an
// exchange: to read there and to write here.
func (s *state) mayLead(kind auth.Kind, from, exchange string) error {
	if err := s.permit(kind, from, auth.Read); err != nil {
		return err
	}
	return s.permit(auth.Exchange, exchange, auth.Write)
}

func (s *state) deleteQueue(m *protocol.QueueDelete) error {
	name, err := s.named(m.Queue)
	if err != nil {
		return err
	}
	name = stripped(name)
	if err := s.permit(auth.Queue, name, auth.Configure); err != nil {
		return err
	}
	s.send(s.cfg.VHost.PID, &mail.DeleteQueue{
		Request: s.request(m, func(reply any) {
			if !m.NoWait {
				s.reply(&protocol.QueueDeleteOk{MessageCount: uint32(reply.(*mail.DeleteQueueReply).MessageCount)})
			}
		}),
		Name: name, IfUnused: m.IfUnused, IfEmpty: m.IfEmpty, Connection: s.cfg.Connection, VHost: s.cfg.VHost.Name,
	})
	return nil
}

func (s *state) purge(m *protocol.QueuePurge) error {
	name, err := s.named(m.Queue)
	if err != nil {
		return err
	}
	q, err := s.readable(name)
	if err != nil {
		return err
	}
	s.send(q.PID, &mail.Purge{
		Request: s.request(m, func(reply any) {
			if !m.NoWait {
				s.reply(&protocol.QueuePurgeOk{MessageCount: uint32(reply.(*mail.PurgeReply).MessageCount)})
			}
		}),
		Connection: s.cfg.Connection, Queue: q.Name, VHost: s.cfg.VHost.Name,
	})
	return nil
}

// bindQueue is queue.bind and queue.unbind. An empty queue name means the last
// declared one, and an empty key with it that queue's name (DEC-9).
func (s *state) bindQueue(m protocol.Method, queue, source, key string, args protocol.Table, noWait bool) error {
	name, err := s.named(queue)
	if err != nil {
		return err
	}
	if queue == "" && key == "" {
		key = name
	}
	name = stripped(name)
	if err := s.permit(auth.Queue, name, auth.Write); err != nil {
		return err
	}
	return s.bind(m, source, topology.Binding{Destination: name, RoutingKey: key, Arguments: args}, noWait)
}

func (s *state) bindExchange(m protocol.Method, source, destination, key string, args protocol.Table, noWait bool) error {
	destination = stripped(destination)
	if err := s.permit(auth.Exchange, destination, auth.Write); err != nil {
		return err
	}
	return s.bind(m, source, topology.Binding{Destination: destination, ToExchange: true, RoutingKey: key, Arguments: args}, noWait)
}

// bind adds or removes a binding, by the kind of m.
func (s *state) bind(m protocol.Method, source string, b topology.Binding, noWait bool) error {
	source = stripped(source)
	if err := s.mayReadFrom(source, b.RoutingKey); err != nil {
		return err
	}
	var ok protocol.Method
	remove := false
	switch m.(type) {
	case *protocol.QueueBind:
		ok = &protocol.QueueBindOk{}
	case *protocol.QueueUnbind:
		ok, remove = &protocol.QueueUnbindOk{}, true
	case *protocol.ExchangeBind:
		ok = &protocol.ExchangeBindOk{}
	case *protocol.ExchangeUnbind:
		ok, remove = &protocol.ExchangeUnbindOk{}, true
	}
	request := s.request(m, func(any) {
		if !noWait {
			s.reply(ok)
		}
	})
	if remove {
		s.send(s.cfg.VHost.PID, &mail.Unbind{Request: request, Source: source, Binding: b, Connection: s.cfg.Connection})
	} else {
		s.send(s.cfg.VHost.PID, &mail.Bind{Request: request, Source: source, Binding: b, Connection: s.cfg.Connection})
	}
	return nil
}

// mayReadFrom is read on the source of a binding and, if that is a topic
// exchange, on the routing key.
func (s *state) mayReadFrom(source, key string) error {
	if err := s.permit(auth.Exchange, source, auth.Read); err != nil {
		return err
	}
	if x := s.cfg.VHost.Directory().Exchange([]byte(source)); x == nil || x.Type != "topic" {
		return nil
	}
	return s.cfg.Permissions.CheckTopic(s.cfg.User, s.cfg.VHost.Name, source, key, auth.Read)
}

func (s *state) declareExchange(m *protocol.ExchangeDeclare) error {
	name := stripped(m.Exchange)
	if err := s.mayDeclareExchange(m, name); err != nil {
		return err
	}
	s.send(s.cfg.VHost.PID, &mail.DeclareExchange{
		Request: s.request(m, func(any) {
			if !m.NoWait {
				s.reply(&protocol.ExchangeDeclareOk{})
			}
		}),
		Name: name, Type: m.Type, Passive: m.Passive, Durable: m.Durable, AutoDelete: m.AutoDelete, Internal: m.Internal, Arguments: m.Arguments,
	})
	return nil
}

// mayDeclareExchange is configure on the exchange and, for a new one with an
// alternate exchange, read on it and write on that (DEC-14).
func (s *state) mayDeclareExchange(m *protocol.ExchangeDeclare, name string) error {
	if m.Passive {
		return s.permitAny(auth.Exchange, name)
	}
	if err := s.permit(auth.Exchange, name, auth.Configure); err != nil {
		return err
	}
	v, _ := m.Arguments.Get("alternate-exchange")
	alternate, isText := v.(string)
	if !isText || s.cfg.VHost.Directory().Exchange([]byte(name)) != nil {
		return nil
	}
	return s.mayLead(auth.Exchange, name, alternate)
}

func (s *state) deleteExchange(m *protocol.ExchangeDelete) error {
	name := stripped(m.Exchange)
	if err := s.permit(auth.Exchange, name, auth.Configure); err != nil {
		return err
	}
	s.send(s.cfg.VHost.PID, &mail.DeleteExchange{
		Request: s.request(m, func(any) {
			if !m.NoWait {
				s.reply(&protocol.ExchangeDeleteOk{})
			}
		}),
		Name: name, IfUnused: m.IfUnused,
	})
	return nil
}
