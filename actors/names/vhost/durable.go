package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
)

// stored: a change of the definitions is durable, or was refused.
type stored struct {
	then    func(error)
	err     error
	command mail.Answerable // that made the change; nil for none
}

// Answer implements mail.Answerable.
func (s *stored) Answer(f mail.Cause) (mail.Address, any) {
	if s.command == nil {
		return nil, nil
	}
	return s.command.Answer(f)
}

func exchangeStored(vhost string, x *topology.Exchange) definitions.Exchange {
	return definitions.Exchange{
		VHost: vhost, Name: x.Name, Type: x.Type,
		AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments, User: x.User,
	}
}

func queueStored(vhost string, q *topology.Queue) definitions.Queue {
	return definitions.Queue{
		VHost: vhost, Name: q.Name, Type: q.Type, Incarnation: q.Incarnation,
		AutoDelete: q.AutoDelete, Arguments: q.Arguments, Ending: q.Ending, User: q.User,
	}
}

func bindingStored(vhost, source string, b *topology.Binding) definitions.Binding {
	return definitions.Binding{
		VHost: vhost, Source: source, Destination: b.Destination, ToExchange: b.ToExchange,
		RoutingKey: b.RoutingKey, Arguments: b.Arguments, User: b.User,
	}
}

// definitions returns the definitions of an exchange: with its queue if it is a delayed exchange, so that neither is
// stored without the other.
func (xs *exchanges) definitions(x *exchange) []any {
	all := []any{exchangeStored(xs.vhost, x.exchange)}
	if x.holder != nil && x.exchange.Durable {
		all = append(all, queueStored(xs.vhost, x.holder.queue))
	}
	return all
}
