package channel

import (
	"math"

	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// trace is the firehose: while the virtual host is traced, every publish and
// every delivery is copied to its trace exchange. Copies are published like any
// message, but count nowhere and are not confirmed.
type trace struct {
	on     bool // during the read being run
	router *topology.Router
}

// tracePublish copies a message that was routed to targets.
func (s *state) tracePublish(m *message.Message, targets []*target) {
	routed := make(protocol.Array, len(targets))
	for i, t := range targets {
		routed[i] = t.queue.Name
	}
	fields := append(s.traced(m, m.Header), s.origin()...)
	c := traceCopy("publish."+string(m.Exchange), m, append(fields, protocol.Field{Key: "routed_queues", Value: routed}))
	s.copyToTrace(&c)
}

// traceDeliveries copies what a consumer, or basic.get, got of a queue. What
// comes from the trace exchange is not traced again.
func (s *state) traceDeliveries(queue string, items []mail.Delivery) {
	for i := range items {
		d := &items[i]
		if string(d.Message.Exchange) == topology.TraceExchange {
			continue
		}
		redelivered := int32(0)
		if d.Redelivered {
			redelivered = 1
		}
		fields := append(s.traced(&d.Message, s.headerOf(d)), protocol.Field{Key: "redelivered", Value: redelivered})
		c := traceCopy("deliver."+queue, &d.Message, append(fields, s.origin()...))
		c.Owned = false // else it might keep a block of its queue alive
		c.Own()
		s.copyToTrace(&c)
	}
	s.flush()
}

// traceCopy carries what is told of a message in its headers.
func traceCopy(key string, m *message.Message, fields protocol.Table) message.Message {
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: fields}
	return message.Message{
		Exchange: []byte(topology.TraceExchange), RoutingKey: []byte(key), Header: p.Append(nil), Body: m.Body,
		TTL: message.NoTTL, Owned: m.Owned,
	}
}

func (s *state) copyToTrace(c *message.Message) {
	dir := s.cfg.VHost.Directory()
	x := dir.Exchange(c.Exchange)
	if x == nil {
		return
	}
	if s.trace.router == nil {
		s.trace.router = &topology.Router{}
	}
	queues := s.trace.router.Route(dir, x, c.RoutingKey, nil)
	s.steps += s.trace.router.Steps()
	if s.trace.router.Over() {
		s.cfg.Log.Warn().Int("steps", topology.TurnSteps).
			Msg("a message was not copied to the trace exchange: its bindings take too many steps")
		return
	}
	if len(queues) > 0 {
		s.distribute(c, s.targetsOf(queues), nil)
	}
}

// traced returns the headers that describe the message itself.
func (s *state) traced(m *message.Message, raw []byte) protocol.Table {
	keys := protocol.Array{}
	for _, key := range m.Overlay.Keys(string(m.RoutingKey), true) {
		keys = append(keys, key)
	}
	return protocol.Table{
		{Key: "exchange_name", Value: string(m.Exchange)},
		{Key: "routing_keys", Value: keys},
		{Key: "properties", Value: tracedProperties(raw)},
		{Key: "node", Value: s.cfg.Node},
	}
}

// origin returns those that describe the client.
func (s *state) origin() protocol.Table {
	return protocol.Table{
		{Key: "vhost", Value: s.cfg.VHost.Name},
		{Key: "connection", Value: s.cfg.ConnectionName},
		{Key: "channel", Value: int32(s.cfg.ID)},
		{Key: "user", Value: s.cfg.User.Name},
	}
}

// tracedProperties is a message's properties as a table, with the names, types
// and order that RabbitMQ gives them.
func tracedProperties(raw []byte) protocol.Table {
	t := protocol.Table{}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		return t // it was scanned
	}
	number := func(n uint64) any {
		if n <= math.MaxInt32 {
			return int32(n)
		}
		return int64(n)
	}
	for _, f := range []struct {
		flag  uint16
		name  string
		value any
	}{
		{protocol.FlagClusterID, "cluster_id", p.ClusterID},
		{protocol.FlagAppID, "app_id", p.AppID},
		{protocol.FlagUserID, "user_id", p.UserID},
		{protocol.FlagType, "type", p.Type},
		{protocol.FlagTimestamp, "timestamp", number(uint64(p.Timestamp))},
		{protocol.FlagMessageID, "message_id", p.MessageID},
		{protocol.FlagExpiration, "expiration", p.Expiration},
		{protocol.FlagReplyTo, "reply_to", p.ReplyTo},
		{protocol.FlagCorrelationID, "correlation_id", p.CorrelationID},
		{protocol.FlagPriority, "priority", number(uint64(p.Priority))},
		{protocol.FlagDeliveryMode, "delivery_mode", number(uint64(p.DeliveryMode))},
		{protocol.FlagHeaders, "headers", p.Headers},
		{protocol.FlagContentEncoding, "content_encoding", p.ContentEncoding},
		{protocol.FlagContentType, "content_type", p.ContentType},
	} {
		if p.Has(f.flag) {
			t = append(t, protocol.Field{Key: f.name, Value: f.value})
		}
	}
	return t
}
