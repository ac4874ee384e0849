package connection

import (
	"errors"
	"slices"

	"candlemark/protocol"
)

// alwaysCapable are the capabilities announced in any case; configuration adds others.
var alwaysCapable = []string{
	"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify",
	"connection.blocked", "authentication_failure_close", "per_consumer_qos", "direct_reply_to", "consumer_priorities",
}

// serverProperties returns the properties for connection.start. version is the version of RabbitMQ with which the
// broker is compatible, because clients depend on it.
func (cfg *Config) serverProperties() protocol.Table {
	var able protocol.Table
	for _, name := range slices.Concat(alwaysCapable, cfg.Capabilities) {
		if _, twice := able.Get(name); !twice {
			able = append(able, protocol.Field{Key: name, Value: true})
		}
	}
	t := protocol.Table{
		{Key: "capabilities", Value: able},
		{Key: "cluster_name", Value: cfg.ClusterName},
		{Key: "copyright", Value: "Copyright (c) the Candlemark authors"},
		{Key: "information", Value: "An AMQP 0-9-1 broker whose strength is time"},
		{Key: "platform", Value: "Go"},
		{Key: "product", Value: cfg.Product},
		{Key: "product_version", Value: cfg.ProductVersion},
		{Key: "version", Value: protocol.RabbitMQVersion},
	}
	if cfg.Clock.Manual() {
		t = append(t, protocol.Field{Key: "test_clock", Value: true})
	}
	return t
}

// capabilities parses the client's announced capabilities.
func capabilities(properties protocol.Table) Capabilities {
	v, _ := properties.Get("capabilities")
	table, _ := v.(protocol.Table)
	has := func(name string) bool {
		v, _ := table.Get(name)
		yes, _ := v.(bool)
		return yes
	}
	return Capabilities{
		ConsumerCancelNotify:       has("consumer_cancel_notify"),
		BasicNack:                  has("basic.nack"),
		PublisherConfirms:          has("publisher_confirms"),
		ConnectionBlocked:          has("connection.blocked"),
		AuthenticationFailureClose: has("authentication_failure_close"),
	}
}

// negotiate checks a limit that the client requests; 0 means no limit, which is higher than any limit.
func negotiate(what string, value, lower, upper uint32) error {
	var detail, relation, bound string
	limit := upper
	switch {
	case value != 0 && value < lower:
		relation, bound, limit = "lower", "minimum", lower
	case upper != 0 && (value == 0 || value > upper):
		relation, bound = "higher", "maximum"
	default:
		return nil
	}
	if what == "channel_max" && value == 0 {
		detail = " (no limit)"
	}
	return protocol.ConnectionErrorf(protocol.NotAllowed, "negotiated %s = %d%s is %s than the %s allowed value (%d)",
		what, value, detail, relation, bound, limit).For(&protocol.ConnectionTune{})
}

// blame sets the method of a connection error that has none.
func blame(err error, m protocol.Method) error {
	var e *protocol.ConnectionError
	if errors.As(err, &e) {
		return e.For(m)
	}
	return err
}
