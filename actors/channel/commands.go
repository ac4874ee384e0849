package channel

import (
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// command runs a method that is not on the hot path.
func (s *state) command(m protocol.Method) error {
	switch m := m.(type) {
	case *protocol.BasicReject:
		return s.ack(m.DeliveryTag, false, returning(m.Requeue), m)
	case *protocol.BasicNack:
		return s.ack(m.DeliveryTag, m.Multiple, returning(m.Requeue), m)
	case *protocol.BasicConsume:
		return s.consume(m)
	case *protocol.BasicCancel:
		return s.cancel(m)
	case *protocol.BasicGet:
		return s.get(m)
	case *protocol.BasicQos:
		return s.qos(m)
	case *protocol.BasicRecover:
		err := s.recover(m.Requeue)
		if err == nil {
			s.reply(&protocol.BasicRecoverOk{})
		}
		return err
	case *protocol.BasicRecoverAsync:
		return s.recover(m.Requeue)
	case *protocol.ConfirmSelect:
		s.confirms.on = true
		if !m.NoWait {
			s.reply(&protocol.ConfirmSelectOk{})
		}
		return nil
	case *protocol.ChannelClose:
		s.close(true)
		return nil
	case *protocol.ChannelCloseOk, *protocol.ChannelFlowOk, *protocol.BasicCancelOk:
		return nil
	case *protocol.ChannelFlow:
		if !m.Active {
			return protocol.ConnectionErrorf(protocol.NotImplemented, "active=false")
		}
		s.reply(&protocol.ChannelFlowOk{Active: true})
		return nil
	}
	return s.topologyCommand(m)
}

func returning(requeue bool) mail.Settlement {
	if requeue {
		return mail.Requeue
	}
	return mail.Reject
}

// topologyCommand runs what the vhost decides about.
func (s *state) topologyCommand(m protocol.Method) error {
	switch m := m.(type) {
	case *protocol.QueueDeclare:
		return s.declareQueue(m)
	case *protocol.QueueDelete:
		return s.deleteQueue(m)
	case *protocol.QueuePurge:
		return s.purge(m)
	case *protocol.QueueBind:
		return s.bindQueue(m, &m.Queue, m.Exchange, &m.RoutingKey, m.Arguments, m.NoWait)
	case *protocol.QueueUnbind:
		return s.bindQueue(m, &m.Queue, m.Exchange, &m.RoutingKey, m.Arguments, false)
	case *protocol.ExchangeDeclare:
		return s.declareExchange(m)
	case *protocol.ExchangeDelete:
		return s.deleteExchange(m)
	case *protocol.ExchangeBind:
		return s.bindExchange(m, m.Source, m.Destination, m.RoutingKey, m.Arguments, m.NoWait)
	case *protocol.ExchangeUnbind:
		return s.bindExchange(m, m.Source, m.Destination, m.RoutingKey, m.Arguments, m.NoWait)
	case *protocol.AccessRequest:
		s.reply(&protocol.AccessRequestOk{Ticket: 1})
		return nil
	case *protocol.ChannelOpen:
		return protocol.ConnectionErrorf(protocol.ChannelErr, "second 'channel.open' seen")
	case *protocol.TxSelect, *protocol.TxCommit, *protocol.TxRollback:
		return protocol.ConnectionErrorf(protocol.NotImplemented, "%s", m.Name())
	}
	return protocol.ConnectionErrorf(protocol.CommandInvalid, "unimplemented method")
}

// stripped is a name as RabbitMQ takes it: without CR and LF (DEC-8).
func stripped(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(name)
}

func (s *state) declareQueue(m *protocol.QueueDeclare) error {
	name := stripped(m.Queue)
	if name == "" && m.Passive {
		name = s.lastQueue
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

// mayDeclare is configure on the queue and, with a dead-letter exchange, read on
// the queue and write on the exchange (DL-3).
func (s *state) mayDeclare(m *protocol.QueueDeclare, name string) error {
	if m.Passive {
		return nil
	}
	if err := s.permit(auth.Queue, name, auth.Configure); err != nil {
		return err
	}
	v, has := m.Arguments.Get("x-dead-letter-exchange")
	dlx, isText := v.(string)
	if !has || !isText || s.cfg.VHost.Directory().Queue([]byte(name)) != nil {
		return nil
	}
	if err := s.permit(auth.Queue, name, auth.Read); err != nil {
		return err
	}
	return s.permit(auth.Exchange, dlx, auth.Write)
}

func (s *state) deleteQueue(m *protocol.QueueDelete) error {
	name := m.Queue
	if name == "" {
		q, err := s.queueFor("")
		if err != nil {
			return err
		}
		name = q.Name
	}
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
	q, err := s.readable(m.Queue)
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
func (s *state) bindQueue(m protocol.Method, queue *string, source string, key *string, args protocol.Table, noWait bool) error {
	if *queue == "" {
		q, err := s.queueFor("")
		if err != nil {
			return err
		}
		if *queue = q.Name; *key == "" {
			*key = q.Name
		}
	}
	if err := s.permit(auth.Queue, *queue, auth.Write); err != nil {
		return err
	}
	return s.bind(m, source, topology.Binding{Destination: *queue, RoutingKey: *key, Arguments: args}, noWait)
}

func (s *state) bindExchange(m protocol.Method, source, destination, key string, args protocol.Table, noWait bool) error {
	if err := s.permit(auth.Exchange, destination, auth.Write); err != nil {
		return err
	}
	return s.bind(m, source, topology.Binding{Destination: destination, ToExchange: true, RoutingKey: key, Arguments: args}, noWait)
}

// bind adds or removes a binding, by the kind of m.
func (s *state) bind(m protocol.Method, source string, b topology.Binding, noWait bool) error {
	if err := s.permit(auth.Exchange, source, auth.Read); err != nil {
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

func (s *state) declareExchange(m *protocol.ExchangeDeclare) error {
	name := stripped(m.Exchange)
	if !m.Passive {
		if err := s.permit(auth.Exchange, name, auth.Configure); err != nil {
			return err
		}
		if ae, ok := m.Arguments.Get("alternate-exchange"); ok {
			if err := s.permit(auth.Exchange, name, auth.Read); err != nil {
				return err
			}
			if text, isText := ae.(string); isText {
				if err := s.permit(auth.Exchange, text, auth.Write); err != nil {
					return err
				}
			}
		}
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

func (s *state) deleteExchange(m *protocol.ExchangeDelete) error {
	if err := s.permit(auth.Exchange, m.Exchange, auth.Configure); err != nil {
		return err
	}
	s.send(s.cfg.VHost.PID, &mail.DeleteExchange{
		Request: s.request(m, func(any) {
			if !m.NoWait {
				s.reply(&protocol.ExchangeDeleteOk{})
			}
		}),
		Name: stripped(m.Exchange), IfUnused: m.IfUnused,
	})
	return nil
}
