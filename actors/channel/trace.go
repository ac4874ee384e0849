package channel

import (
	"candlemark/actors/channel/trace"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// tracing copies to the trace exchange what package trace makes.
type tracing struct {
	on     bool // during the read being run
	router *topology.Router
	origin trace.Origin
}

// tracePublish copies a message that was routed to targets.
func (s *state) tracePublish(m *message.Message, targets []*target) {
	routed := make(protocol.Array, len(targets))
	for i, t := range targets {
		routed[i] = t.queue.Name
	}
	c := s.tracing.origin.Published(m, routed)
	s.copyToTrace(&c)
}

// traceDeliveries copies what a consumer, or basic.get, got of a queue. What
// comes from the trace exchange is not traced again.
func (s *state) traceDeliveries(queue string, items []mail.Delivery) {
	if !s.cfg.VHost.Tracing() {
		return
	}
	for i := range items {
		d := &items[i]
		if string(d.Message.Exchange) == topology.TraceExchange {
			continue
		}
		c := s.tracing.origin.Delivered(queue, &d.Message, s.output.HeaderOf(d), d.Redelivered)
		s.copyToTrace(&c)
	}
	s.flush()
}

func (s *state) copyToTrace(c *message.Message) {
	dir := s.cfg.VHost.Directory()
	x := dir.Exchange(c.Exchange)
	if x == nil {
		return
	}
	if s.tracing.router == nil {
		s.tracing.router = &topology.Router{}
	}
	queues := s.tracing.router.Route(dir, x, c.RoutingKey, nil)
	s.steps += s.tracing.router.Steps()
	if s.tracing.router.Over() {
		s.cfg.Log.Warn().Int("steps", topology.TurnSteps).
			Msg("a message was not copied to the trace exchange: its bindings take too many steps")
		return
	}
	if len(queues) > 0 {
		s.distribute(c, s.targetsOf(queues), nil)
	}
}
