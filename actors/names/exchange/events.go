package exchange

import (
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// publishEvent publishes an event of a binding. It is recorded if both ends are durable.
func (x *exchange) publishEvent(name string, by *events.Origin, b topology.Binding, to topology.Target) {
	kept := x.cfg.Exchange.Durable && (to.Queue != nil && to.Queue.Durable || to.Exchange != nil && to.Exchange.Durable)
	x.cfg.Events.Publish(by.Declared(kept), func() *events.Event { return x.event(name, by, b) })
}

func (x *exchange) event(name string, by *events.Origin, b topology.Binding) *events.Event {
	kind := "queue"
	if b.ToExchange {
		kind = "exchange"
	}
	return &events.Event{Name: name, VHost: x.cfg.VHost.Name, By: by, Fields: protocol.Table{
		{Key: "source_name", Value: x.cfg.Exchange.Name},
		{Key: "source_kind", Value: "exchange"},
		{Key: "destination_name", Value: b.Destination},
		{Key: "destination_kind", Value: kind},
		{Key: "routing_key", Value: b.RoutingKey},
		{Key: "arguments", Value: b.Arguments},
		{Key: "vhost", Value: x.cfg.VHost.Name},
	}}
}

// uncount ends the count of bindings that are deleted with one of their ends, and publishes their events.
func (x *exchange) uncount(all func(func(topology.Binding) bool)) {
	wanted := x.cfg.Events.Wanted()
	for b := range all {
		if x.count(-1, b); !wanted {
			continue
		}
		x.cfg.Events.Publish(events.Unrecorded, func() *events.Event { return x.event("binding.deleted", nil, b) })
	}
}
