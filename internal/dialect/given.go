package dialect

import (
	"slices"
	"strings"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// own are annotations that the broker makes of what it knows.
var own = []string{"x-exchange", "x-routing-key", "x-cc", "x-basic-type", "x-opt-deaths", "x-delivery-count"}

// Given returns the annotations that a consumer gives a message, as headers: those that begin with x- and are not the
// broker's own. Values that 0-9-1 has no type for are left out, as they are of a message that is published.
func Given(annotations amqp10.Map) protocol.Table {
	t, _ := convert.Table(annotations)
	return slices.DeleteFunc(t, func(f protocol.Field) bool { return !strings.HasPrefix(f.Key, "x-") || slices.Contains(own, f.Key) })
}

// ConsumerArguments returns those of basic.consume that stand for the properties of a link. The error is
// amqp:invalid-field.
func ConsumerArguments(properties amqp10.Map) (args protocol.Table, err error) {
	v, ok := properties.Get("rabbitmq:priority")
	if !ok {
		return nil, nil
	}
	n, ok := v.(int32)
	if !ok {
		return nil, amqp10.Errorf(amqp10.InvalidField, "the link property rabbitmq:priority is not an int")
	}
	return protocol.Table{{Key: "x-priority", Value: n}}, nil
}
