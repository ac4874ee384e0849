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
	checked := name
	if name == "" && !m.Passive { // the server will choose one like it
		checked = generated("amq.gen-")
	}
	if err := s.mayDeclare(m, checked); err != nil {
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
		Leave: mail.LeaveUnless(s.mayHave(m.Arguments, checked)),
	})
	return nil
}

// mayDeclare is configure on the queue.
func (s *state) mayDeclare(m *protocol.QueueDeclare, name string) error {
	if m.Passive {
		return s.permitAny(auth.Queue, name)
	}
	return s.permit(auth.Queue, name, auth.Configure)
}

// mayHave checks the permissions to make a queue with these arguments: if it sends messages
// on to an exchange, read on the queue and write on the exchange (DL-3); and configure
// on the dead-letter queue that the broker is to make. Only the virtual host knows
// whether the queue is to be made.
func (s *state) mayHave(args protocol.Table, name string) error {
	exchanges, deadLetterQueue := policies.QueueLeadsTo(args)
	for _, to := range exchanges {
		if err := s.mayLead(auth.Queue, name, to); err != nil {
			return err
		}
	}
	if deadLetterQueue {
		return s.permit(auth.Queue, cmp.Or(policies.DeadLetterQueueOf(name), name), auth.Configure)
	}
	return nil
}

// mayLead checks the permissions to make something that sends messages on to an
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
	if err := s.permit(auth.Exchange, source, auth.Read); err != nil {
		return err
	}
	topic := mail.LeaveUnless(s.cfg.Permissions.CheckTopic(s.cfg.User, s.cfg.VHost.Name, source, b.RoutingKey, auth.Read))
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
		s.send(s.cfg.VHost.PID, &mail.Unbind{Request: request, Source: source, Binding: b, Connection: s.cfg.Connection, Topic: topic})
	} else {
		s.send(s.cfg.VHost.PID, &mail.Bind{Request: request, Source: source, Binding: b, Connection: s.cfg.Connection, Topic: topic})
	}
	return nil
}

func (s *state) declareExchange(m *protocol.ExchangeDeclare) error {
	name := stripped(m.Exchange)
	if m.Passive {
		if err := s.permitAny(auth.Exchange, name); err != nil {
			return err
		}
	} else if err := s.permit(auth.Exchange, name, auth.Configure); err != nil {
		return err
	}
	var leave error // to make one with an alternate exchange (DEC-14)
	if alternate, leads := policies.ExchangeLeadsTo(m.Arguments); leads {
		leave = s.mayLead(auth.Exchange, name, alternate)
	}
	s.send(s.cfg.VHost.PID, &mail.DeclareExchange{
		Request: s.request(m, func(any) {
			if !m.NoWait {
				s.reply(&protocol.ExchangeDeclareOk{})
			}
		}),
		Name: name, Type: m.Type, Passive: m.Passive, Durable: m.Durable, AutoDelete: m.AutoDelete, Internal: m.Internal, Arguments: m.Arguments,
		Leave: mail.LeaveUnless(leave),
	})
	return nil
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
