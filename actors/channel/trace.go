package channel

import (
	"candlemark/actors/channel/routing"
	"candlemark/actors/channel/trace"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// tracing copies to the trace exchange what package trace makes.
type tracing struct {
	on      bool // during the read being run
	origin  trace.Origin
	vhost   *topology.VHost
	router  *topology.Router
	routes  *routing.Routes
	batches *routing.Batches
	log     zerolog.Logger
}

// published copies a message that was routed to targets; if it is not Owned, it is in chunk.
func (t *tracing) published(m *message.Message, targets []*routing.Target, chunk *message.Chunk) {
	routed := make(protocol.Array, len(targets))
	for i, to := range targets {
		routed[i] = to.Queue.Name
	}
	c := t.origin.Published(m, routed)
	t.send(&c, chunk)
}

func (t *tracing) send(c *message.Message, chunk *message.Chunk) {
	dir := t.vhost.Directory()
	x := dir.Exchange(c.Exchange)
	if x == nil {
		return
	}
	if t.router == nil {
		t.router = &topology.Router{}
	}
	queues := t.router.Route(dir, x, c.RoutingKey, nil)
	t.routes.Count(t.router.Steps())
	if t.router.Over() {
		t.log.Warn().Int("steps", topology.TurnSteps).
			Msg("a message was not copied to the trace exchange: its bindings take too many steps")
		return
	}
	if kept := t.router.Histories(); len(kept) > 0 {
		queues = append(queues, kept...)
	}
	if len(queues) > 0 {
		t.batches.Add(c, t.batches.Targets(queues), nil, chunk)
	}
}

// traceDeliveries copies what a consumer, or basic.get, got of a queue. What
// comes from the trace exchange is not traced again.
func (s *state) traceDeliveries(queue string, items []mail.Delivery) {
	for i := range items {
		d := &items[i]
		if string(d.Message.Exchange) == topology.TraceExchange {
			continue
		}
		c := s.tracing.origin.Delivered(queue, &d.Message, s.output.HeaderOf(d), d.Redelivered)
		s.tracing.send(&c, nil)
	}
	s.flush()
}
