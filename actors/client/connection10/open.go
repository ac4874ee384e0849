package connection10

import (
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// ourOpen returns the answer to the client's open. Clients depend on product and version, so these are RabbitMQ's;
// product_version is the broker's own version.
func (c *connection) ourOpen() *amqp10.Open {
	o := &amqp10.Open{
		ContainerID: c.cfg.Container, MaxFrameSize: c.cfg.FrameMax, ChannelMax: c.reader.sessionMax() - 1,
		OfferedCapabilities: []amqp10.Symbol{"LINK_PAIR_V1_0", "ANONYMOUS-RELAY", dialect.DelayedDelivery},
		Properties: amqp10.Map{
			{Key: amqp10.Symbol("product"), Value: "RabbitMQ"},
			{Key: amqp10.Symbol("version"), Value: protocol.RabbitMQVersion},
			{Key: amqp10.Symbol("product_version"), Value: "Candlemark " + c.cfg.ProductVersion},
			{Key: amqp10.Symbol("platform"), Value: "Go"},
			{Key: amqp10.Symbol("cluster_name"), Value: c.cfg.Container},
			{Key: amqp10.Symbol("node"), Value: c.cfg.Node},
			{Key: amqp10.Symbol("copyright"), Value: "Copyright (c) the Candlemark authors"},
			{Key: amqp10.Symbol("information"), Value: "A message broker whose strength is time"},
		},
	}
	if c.cfg.Clock.Manual() {
		o.Properties = append(o.Properties, amqp10.Entry{Key: amqp10.Symbol("test-clock"), Value: true})
	}
	if c.cfg.Silence > 0 {
		o.IdleTimeout = amqp10.Some(uint32(c.cfg.Silence) * 1000 / 2)
	}
	return o
}

// tableOf converts a client's open to client properties as in 0-9-1; values other than strings, numbers and booleans
// are omitted.
func tableOf(open *amqp10.Open) (t protocol.Table) {
	for _, e := range open.Properties {
		key, ok := e.Key.(amqp10.Symbol)
		if !ok || len(key) > 255 {
			continue
		}
		switch v := e.Value.(type) {
		case string, bool, int64, int32:
			t = t.Set(string(key), v)
		case amqp10.Symbol:
			t = t.Set(string(key), string(v))
		case uint32:
			t = t.Set(string(key), int64(v))
		}
	}
	return t.Set("connection_name", open.ContainerID)
}
