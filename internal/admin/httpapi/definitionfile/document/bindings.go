package document

import (
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

func (j *judge) binding(b *rest.Body, i *Item) {
	b.Need("source", "destination", "destination_type")
	bound := topology.Binding{
		Destination: b.Text("destination"), ToExchange: b.Text("destination_type") == "exchange", RoutingKey: b.Text("routing_key"),
		Arguments: b.Table("arguments"),
	}
	i.VHost = j.in(b)
	source := Name{i.VHost, b.Text("source")}
	i.Name = source.Name + " → " + bound.Destination
	if len(bound.RoutingKey) > maxName {
		b.Fail(fmt.Errorf("the routing key has %d bytes, more than %d", len(bound.RoutingKey), maxName))
	}
	if kind := b.Text("destination_type"); !slices.Contains([]string{"queue", "exchange"}, kind) {
		b.Fail(fmt.Errorf("the type of the destination is '%s', neither queue nor exchange", kind))
	}
	if b.Err != nil {
		return
	}
	to := Name{i.VHost, bound.Destination}
	if why := j.needless(source, to, bound.ToExchange); why != "" {
		i.Note(Ignored, why)
		return
	}
	if err := j.checkBinding(source, to, bound); err != nil {
		i.Note(Refused, Explanation(err))
		return
	}
	i.Value = &protocol.QueueBind{Queue: bound.Destination, Exchange: source.Name, RoutingKey: bound.RoutingKey, Arguments: bound.Arguments}
	if bound.ToExchange {
		i.Value = &protocol.ExchangeBind{Destination: bound.Destination, Source: source.Name, RoutingKey: bound.RoutingKey, Arguments: bound.Arguments}
	}
}

// needless returns the reason why a binding is not imported, "" if it is.
func (j *judge) needless(source, to Name, toExchange bool) string {
	switch {
	case source.Name == "":
		return "every queue is bound to the default exchange"
	case source.Name == topology.AdminExchange || toExchange && to.Name == topology.AdminExchange:
		return "the exchange is the broker's own"
	case j.noExchange[source]:
		return fmt.Sprintf("the exchange '%s' is not imported", source.Name)
	case toExchange && j.noExchange[to]:
		return fmt.Sprintf("the exchange '%s' is not imported", to.Name)
	case !toExchange && j.noQueue[to]:
		return fmt.Sprintf("the queue '%s' is not imported", to.Name)
	}
	return ""
}

func (j *judge) checkBinding(source, to Name, bound topology.Binding) *protocol.ChannelError {
	x, there := j.Exchanges[source]
	if !there {
		return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", source.Name, source.VHost)
	}
	var queue *topology.Queue
	if bound.ToExchange {
		if _, there = j.Exchanges[to]; !there {
			return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", to.Name, to.VHost)
		}
	} else {
		q, there := j.Queues[to]
		// The broker makes dead-letter queues when it needs them.
		of, forDead := strings.CutSuffix(to.Name, policies.DeadLetterQueueSuffix)
		if _, has := j.Queues[Name{to.VHost, of}]; !there && !(forDead && has) {
			return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", to.Name, to.VHost)
		}
		queue = &topology.Queue{Name: to.Name, Type: "classic"}
		if policies.KindOf(q.Arguments) == policies.KindQuorumQueue {
			queue.Type = "quorum"
		}
	}
	routing := topology.Exchange{Type: x.Type, Arguments: x.Arguments}
	return topology.ValidateBinding(routing.RoutingType(), bound, queue)
}
