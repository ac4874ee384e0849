package dialect

import (
	"math"
	"strconv"

	"candlemark/internal/routing/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Outgoing is the data of a delivery that is not part of the message.
type Outgoing struct {
	Redelivered bool
	Entity      *Entity // for receivers of Azure Service Bus's dialect, else nil
}

// Entity is additional data of a message for receivers of Azure Service Bus.
type Entity struct {
	Annotations   amqp10.Map // their keys are symbols
	Instructions  amqp10.Map // delivery annotations, also with symbols as keys; nil for none
	Properties    protocol.Table
	TTL           int64 // ms, measured from the enqueue; 0 for none, AsSent for the message's own
	DeliveryCount uint32
}

// AsSent stands for the TTL that the sender gave the message.
const AsSent = -1

// Append appends the sections of a message to dst, except body, which must follow them: it is m.Body, or empty. d is
// the data of the delivery. It fails if the property list cannot be decoded.
func Append(dst []byte, m *message.Message, d Outgoing) (head, body []byte, err error) {
	list := m.Header
	if m.Overlay != nil {
		if list, err = m.Overlay.Header(list); err != nil {
			return dst, nil, err
		}
	}
	_, original := protocol.SplitOriginal(m.Header)
	properties := convert.Beside
	if !convert.Fits(original, m.Body) {
		original, properties = nil, protocol.DecodeProperties
	}
	p, err := properties(list)
	if err != nil {
		return dst, nil, err
	}
	delivery := convert.Delivery{FirstAcquirer: !d.Redelivered && !m.Overlay.Dead()}
	if n, ok := p.Headers.Get("x-delivery-count"); ok {
		count, _ := protocol.Int64(n)
		delivery.DeliveryCount = uint32(min(max(count, 0), math.MaxUint32))
		p.Headers = p.Headers.Delete("x-delivery-count")
	}
	var amended, annotations amqp10.Map
	if o := m.Overlay; o != nil {
		delivery.DeliveryCount += min(o.Failed, math.MaxUint32-delivery.DeliveryCount)
		amended, annotations = restored(o.Properties), restored(o.Annotations)
	}
	if e := d.Entity; e != nil {
		delivery.Annotations, delivery.Instructions, delivery.DeliveryCount = e.Annotations, e.Instructions, e.DeliveryCount
		delivery.WholeHeader = true // Azure's clients for Python and JavaScript do not know the defaults
		asSent(original, &p, &delivery)
		switch {
		case e.TTL > 0:
			p.Expiration, p.Flags = strconv.FormatInt(e.TTL, 10), p.Flags|protocol.FlagExpiration
		case e.TTL != AsSent:
			p.Flags &^= protocol.FlagExpiration
		}
		for _, f := range e.Properties {
			if _, set := amended.Get(f.Key); !set { // a client's value counts
				amended = append(amended, convert.Map(protocol.Table{f})...)
				p.Headers, p.Flags = p.Headers.Set(f.Key, f.Value), p.Flags|protocol.FlagHeaders // as in a 0-9-1 message
			}
		}
	}
	var room [4][]byte
	dst, rest := convert.Append(dst, room[:0], &convert.Message{
		Exchange: m.Exchange, RoutingKey: m.RoutingKey, Properties: p, Original: original, Body: m.Body, Amended: amended, Annotations: annotations,
	}, delivery)
	if last := len(rest) - 1; last >= 0 && len(m.Body) > 0 && len(rest[last]) == len(m.Body) && &rest[last][0] == &m.Body[0] {
		rest, body = rest[:last], m.Body
	}
	for _, piece := range rest {
		dst = append(dst, piece...)
	}
	return dst, body, nil
}

// asSent restores the fields of the header with which a client of Azure Service Bus sent a message (SBE-19).
func asSent(original []byte, p *protocol.Properties, d *convert.Delivery) {
	durable, first, ok := convert.SentHeader(original)
	if !ok {
		return
	}
	if d.FirstAcquirer = first; !durable {
		p.DeliveryMode = 1
	}
}
