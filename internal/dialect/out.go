package dialect

import (
	"math"

	"candlemark/internal/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10/convert"
)

// Append appends the sections of a message to dst, but for body, which is to follow them: it is m.Body, or empty. header is the message's property
// list with what the broker adds (message.Overlay.Header), redelivered what its receiver is told. The error is of a property list that cannot be read.
func Append(dst []byte, m *message.Message, header []byte, redelivered bool) (head, body []byte, err error) {
	p, err := protocol.DecodeProperties(header)
	if err != nil {
		return dst, nil, err
	}
	told := convert.Delivery{FirstAcquirer: !redelivered}
	if n, ok := p.Headers.Get("x-delivery-count"); ok {
		count, _ := protocol.Int64(n)
		told.DeliveryCount = uint32(min(max(count, 0), math.MaxUint32))
		p.Headers = p.Headers.Delete("x-delivery-count")
	}
	_, original := protocol.SplitOriginal(m.Header)
	dst, rest := convert.Append(dst, nil, &convert.Message{
		Exchange: string(m.Exchange), RoutingKey: string(m.RoutingKey), Properties: p, Original: original, Body: m.Body,
	}, told)
	if last := len(rest) - 1; last >= 0 && len(m.Body) > 0 && len(rest[last]) == len(m.Body) && &rest[last][0] == &m.Body[0] {
		rest, body = rest[:last], m.Body
	}
	for _, piece := range rest {
		dst = append(dst, piece...)
	}
	return dst, body, nil
}
