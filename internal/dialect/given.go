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

// Given are the annotations that a consumer gives a message, as headers: those that begin with x- and are not the broker's own. Values that
// 0-9-1 has no type for are left out, as they are of a message that is published.
func Given(annotations amqp10.Map) protocol.Table {
	t, _ := convert.Table(annotations)
	return slices.DeleteFunc(t, func(f protocol.Field) bool { return !strings.HasPrefix(f.Key, "x-") || slices.Contains(own, f.Key) })
}
