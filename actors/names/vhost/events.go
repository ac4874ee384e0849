package vhost

import (
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// publishEvent publishes an event of an object after the earlier effects of the turn. fields is called if the event is
// recorded or has listeners.
func (s *shared) publishEvent(name string, by *events.Origin, durable bool, fields func() protocol.Table) {
	if s.cfg.Events == nil {
		return
	}
	s.out.add(func() {
		s.cfg.Events.Publish(by.Declared(durable), func() *events.Event {
			return &events.Event{Name: name, VHost: s.vhost, By: by, Fields: fields()}
		})
	})
}

// publishQueueEvent publishes an event of a queue that is visible to clients, with further fields.
func (s *shared) publishQueueEvent(name string, by *events.Origin, q *topology.Queue, more ...protocol.Field) {
	if q.Holds() {
		return
	}
	s.publishEvent(name, by, q.Durable, func() protocol.Table {
		fields := protocol.Table{
			{Key: "name", Value: q.Name},
			{Key: "vhost", Value: s.vhost},
			{Key: "durable", Value: q.Durable},
			{Key: "auto_delete", Value: q.AutoDelete},
			{Key: "exclusive", Value: q.Exclusive},
			{Key: "type", Value: "rabbit_" + q.Type + "_queue"},
			{Key: "arguments", Value: q.Arguments},
		}
		if q.Owner != nil {
			fields = append(fields, protocol.Field{Key: "owner_pid", Value: q.Owner.GetId()})
		}
		return append(fields, more...)
	})
}

// lostMessages is the field of an event of a deleted object with messages that were to arrive elsewhere.
func lostMessages(n int) []protocol.Field {
	if n == 0 {
		return nil
	}
	return []protocol.Field{{Key: "lost_messages", Value: int64(n)}}
}

func (s *shared) publishExchangeEvent(name string, by *events.Origin, x *topology.Exchange, more ...protocol.Field) {
	s.publishEvent(name, by, x.Durable, func() protocol.Table {
		return append(protocol.Table{
			{Key: "name", Value: x.Name},
			{Key: "vhost", Value: s.vhost},
			{Key: "type", Value: x.Type},
			{Key: "durable", Value: x.Durable},
			{Key: "auto_delete", Value: x.AutoDelete},
			{Key: "internal", Value: x.Internal},
			{Key: "arguments", Value: x.Arguments},
		}, more...)
	})
}
