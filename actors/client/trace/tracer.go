package trace

import (
	"candlemark/actors/client/routing"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Tracer copies a client's publishes and deliveries to the trace exchange. It belongs to the actor of the client's
// channel or session.
type Tracer struct {
	On      bool // during the read being run
	Origin  Origin
	VHost   *topology.VHost
	Routes  *routing.RouteCache
	Batches *routing.Batches // receives the copies; the caller flushes them
	Log     zerolog.Logger

	finder *routefinder.Finder // nil before the first copy
}

// Published copies a message that was routed to targets; if it is not Owned, it is in chunk.
func (t *Tracer) Published(m *message.Message, targets []*routing.Target, chunk *message.Chunk) {
	routed := make(protocol.Array, len(targets))
	for i, to := range targets {
		routed[i] = to.Queue.Name
	}
	c := t.Origin.Published(m, routed)
	t.send(&c, chunk)
}

// Delivered copies a delivery from a queue, with the given properties. Deliveries of traced copies are not traced
// again.
func (t *Tracer) Delivered(queue string, m *message.Message, properties []byte, again bool) {
	if string(m.Exchange) == topology.TraceExchange {
		return
	}
	c := t.Origin.Delivered(queue, m, properties, again)
	t.send(&c, nil)
}

func (t *Tracer) send(c *message.Message, chunk *message.Chunk) {
	dir := t.VHost.Directory()
	x := dir.Exchange(c.Exchange)
	if x == nil {
		return
	}
	if t.finder == nil {
		t.finder = &routefinder.Finder{}
	}
	queues := t.finder.Find(dir, x, routefinder.Content{}, c.RoutingKey, nil)
	t.Routes.Count(t.finder.Steps())
	if t.finder.Over() {
		t.Log.Warn().Int("steps", topology.TurnSteps).
			Msg("a message was not copied to the trace exchange: its bindings exceed the limit of routing steps")
		return
	}
	if kept := t.finder.Histories(); len(kept) > 0 {
		queues = append(queues, kept...)
	}
	if len(queues) > 0 {
		t.Batches.Add(c, t.Batches.Targets(queues), nil, chunk)
	}
}
