package dialect

import (
	"slices"
	"strings"

	"candlemark/internal/routing/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// own are annotations that the broker generates.
var own = []string{"x-exchange", "x-routing-key", "x-cc", "x-basic-type", "x-opt-deaths", "x-delivery-count"}

// Given returns the annotations that a consumer gives a message, as headers: annotations that begin with x- and are not
// the broker's own.
func Given(annotations amqp10.Map) protocol.Table {
	return slices.DeleteFunc(Amendments(annotations), func(f protocol.Field) bool { return !strings.HasPrefix(f.Key, "x-") || slices.Contains(own, f.Key) })
}

// Amendments returns a map as amendments of an overlay: with values of type [message.Typed] where 0-9-1 has a different
// type. Values without a 0-9-1 type are left out, as in published messages.
func Amendments(m amqp10.Map) (t protocol.Table) {
	for _, e := range m {
		plain, ok := convert.Table(amqp10.Map{e})
		if !ok {
			continue
		}
		f := plain[0]
		if encoded := convert.Kept(e.Value); encoded != nil {
			f.Value = message.Typed{Value: f.Value, Encoded: encoded}
		}
		t = append(t, f)
	}
	return t
}

// restored converts amendments to a map.
func restored(t protocol.Table) (m amqp10.Map) {
	for _, f := range t {
		if v, is := f.Value.(message.Typed); is {
			m = append(m, amqp10.Entry{Key: f.Key, Value: amqp10.Value(v.Encoded).Decode()})
		} else {
			m = append(m, convert.Map(protocol.Table{f})...)
		}
	}
	return m
}

// ConsumerArguments returns the arguments of basic.consume for the properties of a link. The error is
// amqp:invalid-field.
func ConsumerArguments(properties amqp10.Map) (args protocol.Table, err error) {
	if v, ok := properties.Get("rabbitmq:priority"); ok {
		n, ok := v.(int32)
		if !ok {
			return nil, amqp10.Errorf(amqp10.InvalidField, "the link property rabbitmq:priority is not an int")
		}
		args = protocol.Table{{Key: "x-priority", Value: n}}
	}
	if v, ok := properties.Get("rabbitmq:consumer-timeout"); ok {
		n, ok := v.(uint32)
		if !ok {
			return nil, amqp10.Errorf(amqp10.InvalidField, "the link property rabbitmq:consumer-timeout is not a uint")
		}
		args = append(args, protocol.Field{Key: "x-consumer-timeout", Value: int64(n)})
	}
	return args, nil
}
