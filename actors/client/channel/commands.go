package channel

import (
	"candlemark/actors/client/requests"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// command executes a method that is not on the hot path.
func (s *state) command(m protocol.Method) error {
	switch m := m.(type) {
	case *protocol.BasicReject:
		how := mail.Reject
		if m.Requeue {
			how = mail.Requeue
		}
		return s.ack(m.DeliveryTag, false, how, m)
	case *protocol.BasicNack: // not a failed delivery, as in RabbitMQ (DL-9, RETRY-1)
		how := mail.Discard
		if m.Requeue {
			how = mail.Release
		}
		return s.ack(m.DeliveryTag, m.Multiple, how, m)
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
			s.output.Reply(&protocol.BasicRecoverOk{})
		}
		return err
	case *protocol.BasicRecoverAsync:
		return s.recover(m.Requeue)
	case *protocol.ConfirmSelect:
		return s.selectConfirms(m)
	case *protocol.ChannelClose:
		s.close(true)
		return nil
	}
	return s.topologyCommand(m)
}

// topologyCommand sends a request to the virtual host or a queue.
func (s *state) topologyCommand(m protocol.Method) error {
	if d, ok := m.(*protocol.QueueDeclare); ok {
		if name := requests.Stripped(d.Queue); topology.IsReserved(name) {
			return s.declareReplies(d, name)
		}
	}
	r, err := s.client.For(m)
	if err != nil {
		return err
	}
	if r == nil {
		return s.rareCommand(m)
	}
	s.mail.Send(r.To, r.Mail(s.request(m, func(reply any) {
		if declared, ok := reply.(*mail.DeclareQueueReply); ok {
			s.client.LastQueue = declared.Name
		}
		if purged, ok := reply.(*mail.PurgeReply); ok {
			s.events.Purged(r.Purges, purged.MessageCount)
		}
		if !r.NoWait {
			s.output.Reply(r.Ok(reply))
		}
	})))
	return nil
}

// declareReplies executes queue.declare of the reply name of a requester.
func (s *state) declareReplies(m *protocol.QueueDeclare, name string) error {
	if err := s.replies.Check(name); err != nil {
		return err
	}
	s.client.LastQueue = name
	if !m.NoWait {
		s.output.Reply(&protocol.QueueDeclareOk{Queue: name, ConsumerCount: 1})
	}
	return nil
}

// rareCommand executes rarely used and refuses unsupported methods.
func (s *state) rareCommand(m protocol.Method) error {
	switch m := m.(type) {
	case *protocol.BasicCancelOk: // an answer to our basic.cancel, although we requested none
		return nil
	case *protocol.ChannelFlow:
		if !m.Active {
			return protocol.ConnectionErrorf(protocol.NotImplemented, "active=false")
		}
		s.output.Reply(&protocol.ChannelFlowOk{Active: true})
		return nil
	case *protocol.AccessRequest:
		s.output.Reply(&protocol.AccessRequestOk{Ticket: 1})
		return nil
	case *protocol.ChannelOpen:
		return protocol.ConnectionErrorf(protocol.ChannelErr, "second 'channel.open' seen")
	case *protocol.TxSelect:
		return s.selectTx()
	case *protocol.TxCommit, *protocol.TxRollback:
		return s.conclude(m)
	}
	return protocol.ConnectionErrorf(protocol.CommandInvalid, "unimplemented method")
}
