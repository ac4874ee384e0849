package supervision

import (
	"context"
	"sync"

	"candlemark/actors/system/mail"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/events/eventlog"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/text/jsonencode"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

const (
	// eventExchange is the exchange where RabbitMQ's event exchange plugin publishes events.
	eventExchange = "amq.rabbitmq.event"
	// eventRoom is the maximum number of events that wait to be published; more are lost, and counted.
	eventRoom = 4096
	// eventBatch is the maximum number of events on their way to queues at a time.
	eventBatch = 256
)

// newHub returns the source of a node's events.
func newHub(cfg *Config, now func() int64) *events.Hub {
	audit := cfg.Log
	if cfg.Audit != nil {
		audit = *cfg.Audit
	}
	return events.NewHub(events.Config{
		Log: eventlog.New(audit, func(t protocol.Table) []byte { return jsonencode.Marshal(forms.Object(t)) }), Now: now,
	})
}

// eventExchanges returns the exchanges of a virtual host for events, which are published in one.
func eventExchanges(in, vhost string) []mail.DeclareExchange {
	if in == "" || in != vhost {
		return nil
	}
	return []mail.DeclareExchange{{Name: eventExchange, Type: "topic", Durable: true, Internal: true}}
}

// eventPublisher publishes events in its own goroutine.
type eventPublisher struct {
	node     *Node
	listener *events.Listener
	router   topology.Router
	stop     context.CancelFunc
	gone     sync.WaitGroup
}

// publishEvents begins to publish events, if a virtual host is configured for them; call end to stop. busy reports whether one is not yet
// taken by its queues.
func publishEvents(n *Node) (busy func() bool, end func()) {
	if n.cfg.EventsIn == "" {
		return func() bool { return false }, func() {}
	}
	if _, found := n.VHost(n.cfg.EventsIn); !found {
		n.cfg.Log.Warn().Str("vhost", n.cfg.EventsIn).Msg("the virtual host for events does not exist: no events are published until it is created")
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &eventPublisher{node: n, stop: stop}
	p.listener = n.parameters.events.Listen(eventRoom, nil, func() bool {
		_, x := p.exchange()
		return x == nil || x.Routes().Len() == 0
	})
	p.gone.Go(func() { p.run(ctx) })
	return p.listener.Busy, func() {
		p.listener.Close()
		p.stop()
		p.gone.Wait()
	}
}

// exchange finds the exchange; nil if it does not exist.
func (p *eventPublisher) exchange() (*topology.Directory, *topology.Exchange) {
	v, found := p.node.VHost(p.node.cfg.EventsIn)
	if !found {
		return nil, nil
	}
	d := v.Directory()
	return d, d.Exchange([]byte(eventExchange))
}

func (p *eventPublisher) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-p.listener.C:
			batch := []events.Notification{first}
			for len(batch) < eventBatch && len(p.listener.C) > 0 {
				batch = append(batch, <-p.listener.C)
			}
			p.publish(ctx, batch)
			for _, e := range batch {
				p.listener.Done(e)
			}
		}
	}
}

// publish sends a batch to the queues, and waits until all have taken it, so that only one batch is on its way.
func (p *eventPublisher) publish(ctx context.Context, batch []events.Notification) {
	d, x := p.exchange()
	if x == nil {
		return
	}
	targets := map[*topology.Queue][]message.Message{}
	for _, e := range batch {
		if e.Lost > 0 {
			p.node.cfg.Log.Warn().Uint64("lost_events", e.Lost).Msg("events were not published: queues did not accept them fast enough")
		}
		m := eventMessage(e.Event)
		queues := append(p.router.Route(d, x, m.RoutingKey, e.Headers), p.router.Histories()...)
		caps := p.router.Caps()
		for i, q := range queues {
			capped := m
			if caps != nil {
				capped.Cap(caps[i])
			}
			targets[q] = append(targets[q], capped)
		}
	}
	in := p.node.asker.Inbox(len(targets))
	defer in.Close()
	for q, messages := range targets {
		messages[len(messages)-1].Number = 1 // asks for an answer
		p.node.asker.Post(q.PID, &mail.Enqueue{From: in.PID, Queue: q.PID, Table: q.Table, Action: q.Action, Messages: messages})
	}
	ctx, cancel := p.node.clock.WithTimeout(ctx, ask.Patience)
	defer cancel()
	for range targets {
		if _, err := in.Next(ctx); err != nil {
			return
		}
	}
}

// eventMessage returns an event as RabbitMQ publishes it: with all data in the headers.
func eventMessage(e *events.Event) message.Message {
	p := protocol.Properties{
		Flags:   protocol.FlagHeaders | protocol.FlagTimestamp | protocol.FlagDeliveryMode,
		Headers: e.Headers(), Timestamp: protocol.Timestamp(e.At / 1000), DeliveryMode: 2,
	}
	return message.Message{
		Exchange: []byte(eventExchange), RoutingKey: []byte(e.Name), Header: p.Append(nil), TTL: message.NoTTL, Owned: true,
	}
}
