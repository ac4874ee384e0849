package recurring

import (
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// publishEvent publishes an event of a schedule that the actor, not a user, caused. The log has none of them.
func (s *state) publishEvent(x *schedule, name string, more ...protocol.Field) {
	s.cfg.Events.Publish(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, VHost: x.spec.VHost, Fields: append(protocol.Table{{Key: "name", Value: x.spec.Name}, {Key: "vhost", Value: x.spec.VHost}}, more...)}
	})
}
