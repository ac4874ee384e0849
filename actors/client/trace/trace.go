package trace

import (
	"math"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Origin describes the client in traced messages.
type Origin struct {
	Node, VHost, Connection, User string // names
	Channel                       uint16
}

// Published returns the copy of a message that was routed to queues.
func (o *Origin) Published(m *message.Message, queues protocol.Array) message.Message {
	fields := append(o.message(m, m.Header), o.client()...)
	return carry("publish."+string(m.Exchange), m, append(fields, protocol.Field{Key: "routed_queues", Value: queues}))
}

// Delivered returns the copy, in its own memory, of a delivery from a queue, with the given properties.
func (o *Origin) Delivered(queue string, m *message.Message, properties []byte, again bool) message.Message {
	redelivered := int32(0)
	if again {
		redelivered = 1
	}
	fields := append(o.message(m, properties), protocol.Field{Key: "redelivered", Value: redelivered})
	c := carry("deliver."+queue, m, append(fields, o.client()...))
	c.Owned = false // otherwise the copy might keep a block of its queue's memory
	c.Own()
	return c
}

// carry returns a copy that describes its message in its headers.
func carry(key string, m *message.Message, fields protocol.Table) message.Message {
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: fields}
	return message.Message{
		Exchange: []byte(topology.TraceExchange), RoutingKey: []byte(key), Header: p.Append(nil), Body: m.Body,
		TTL: message.NoTTL, Owned: m.Owned,
	}
}

// message returns the headers that describe the message.
func (o *Origin) message(m *message.Message, raw []byte) protocol.Table {
	keys := protocol.Array{}
	for _, key := range m.Overlay.Keys(string(m.RoutingKey), true) {
		keys = append(keys, key)
	}
	return protocol.Table{
		{Key: "exchange_name", Value: string(m.Exchange)},
		{Key: "routing_keys", Value: keys},
		{Key: "properties", Value: properties(raw)},
		{Key: "node", Value: o.Node},
	}
}

// client returns the headers that describe the client.
func (o *Origin) client() protocol.Table {
	return protocol.Table{
		{Key: "vhost", Value: o.VHost},
		{Key: "connection", Value: o.Connection},
		{Key: "channel", Value: int32(o.Channel)},
		{Key: "user", Value: o.User},
	}
}

// properties returns a message's properties as a table, with RabbitMQ's names, types and order.
func properties(raw []byte) protocol.Table {
	t := protocol.Table{}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		return t // valid: checked before
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
