package dialect

import (
	"math"
	"strings"

	"candlemark/internal/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Append appends the sections of a message but for the body, which is to follow them. header is the message's property list
// with what the broker adds (message.Overlay.Header), redelivered what its receiver is told. The error is of a property list that cannot be read.
func Append(dst []byte, m *message.Message, header []byte, redelivered bool) ([]byte, error) {
	p, err := protocol.DecodeProperties(header)
	if err != nil {
		return dst, err
	}
	h := amqp10.Header{Durable: p.DeliveryMode == 2, FirstAcquirer: !redelivered}
	if p.Has(protocol.FlagPriority) {
		h.Priority = amqp10.Some(p.Priority)
	}
	if p.Has(protocol.FlagExpiration) {
		if ttl, err := message.ParseTTL([]byte(p.Expiration)); err == nil && ttl <= math.MaxUint32 {
			h.TTL = amqp10.Some(uint32(ttl))
		}
	}
	if n, _ := p.Headers.Get("x-delivery-count"); n != nil {
		count, _ := protocol.Int64(n)
		h.DeliveryCount = uint32(min(max(count, 0), math.MaxUint32))
	}
	dst = amqp10.AppendComposite(dst, &h)
	properties, annotations, own := split(&p, m)
	if dst, err = appendMap(dst, amqp10.SectionMessageAnnotations, annotations); err != nil {
		return dst, err
	}
	dst = amqp10.AppendComposite(dst, properties)
	if len(own) > 0 {
		if dst, err = appendMap(dst, amqp10.SectionApplicationProperties, own); err != nil {
			return dst, err
		}
	}
	if p.Type == EncodedSections {
		return dst, nil
	}
	return amqp10.AppendDataHead(dst, len(m.Body)), nil
}

func appendMap(dst []byte, code uint64, m amqp10.Map) ([]byte, error) {
	return amqp10.Append(amqp10.AppendDescriptor(dst, code), m)
}

// split tells the properties, the annotations and the application properties apart.
func split(p *protocol.Properties, m *message.Message) (to *amqp10.Properties, annotations, own amqp10.Map) {
	to = &amqp10.Properties{}
	for _, x := range []struct {
		flag uint16
		from string
		to   *amqp10.Text
	}{{protocol.FlagReplyTo, p.ReplyTo, &to.ReplyTo}, {protocol.FlagAppID, p.AppID, &to.GroupID}} {
		if p.Has(x.flag) {
			*x.to = amqp10.Text(x.from)
		}
	}
	if p.Has(protocol.FlagUserID) {
		to.UserID = []byte(p.UserID)
	}
	if p.Has(protocol.FlagContentType) {
		to.ContentType = symbol(p.ContentType)
	}
	if p.Has(protocol.FlagContentEncoding) {
		to.ContentEncoding = symbol(p.ContentEncoding)
	}
	if p.Has(protocol.FlagTimestamp) && p.Timestamp <= math.MaxInt64/1000 {
		to.CreationTime = amqp10.Some(amqp10.Timestamp(p.Timestamp) * 1000)
	}
	if p.Has(protocol.FlagMessageID) {
		to.MessageID = id(p.MessageID)
	}
	if p.Has(protocol.FlagCorrelationID) {
		to.CorrelationID = id(p.CorrelationID)
	}
	annotate := func(key string, v any) {
		annotations = append(annotations, amqp10.Entry{Key: amqp10.Symbol(key), Value: v})
	}
	annotate("x-exchange", string(m.Exchange))
	annotate("x-routing-key", string(m.RoutingKey))
	if p.Has(protocol.FlagType) && p.Type != EncodedSections {
		annotate("x-basic-type", p.Type)
	}
	for _, f := range p.Headers {
		switch {
		case f.Key == "x-delivery-count" || standard(to, f):
		case f.Key == "x-death":
			annotate("x-opt-deaths", deaths(f.Value))
		case f.Key == "CC":
			annotate("x-cc", value(f.Value))
		case strings.HasPrefix(f.Key, "x-"):
			annotate(ascii(f.Key), value(f.Value))
		default:
			switch v := value(f.Value).(type) {
			case amqp10.List, amqp10.Map: // not allowed there
			default:
				own = append(own, amqp10.Entry{Key: f.Key, Value: v})
			}
		}
	}
	return to, annotations, own
}

// standard takes a header that stands for a property.
func standard(to *amqp10.Properties, f protocol.Field) bool {
	switch v := f.Value.(type) {
	case string:
		switch f.Key {
		case headerTo:
			to.To = amqp10.Text(v)
		case headerSubject:
			to.Subject = amqp10.Text(v)
		case headerReplyToGroup:
			to.ReplyToGroupID = amqp10.Text(v)
		case headerMessageID:
			to.MessageID = amqp10.AppendString(nil, v)
		case headerCorrelationID:
			to.CorrelationID = amqp10.AppendString(nil, v)
		default:
			return false
		}
		return true
	case []byte:
		switch f.Key {
		case headerMessageID:
			to.MessageID = amqp10.AppendBinary(nil, v)
		case headerCorrelationID:
			to.CorrelationID = amqp10.AppendBinary(nil, v)
		default:
			return false
		}
		return true
	case int64:
		switch f.Key {
		case headerGroupSequence:
			to.GroupSequence = amqp10.Some(uint32(v))
		case headerAbsoluteExpiry:
			to.AbsoluteExpiryTime = amqp10.Some(amqp10.Timestamp(v))
		default:
			return false
		}
		return true
	}
	return false
}

// id is a message id: text, or a uuid that was written as one.
func id(text string) amqp10.Value {
	hex, ok := strings.CutPrefix(text, "urn:uuid:")
	if !ok || len(hex) != 36 {
		return amqp10.AppendString(nil, text)
	}
	var u amqp10.UUID
	digits := strings.ReplaceAll(hex, "-", "")
	if len(digits) != 32 {
		return amqp10.AppendString(nil, text)
	}
	for i := range u {
		high, ok1 := nibble(digits[2*i])
		low, ok2 := nibble(digits[2*i+1])
		if !ok1 || !ok2 {
			return amqp10.AppendString(nil, text)
		}
		u[i] = high<<4 | low
	}
	return amqp10.AppendUUID(nil, u)
}

func nibble(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// ascii leaves out what a symbol cannot have.
func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, text)
}

func symbol(text string) amqp10.SymbolText { return amqp10.SymbolText(ascii(text)) }

// value is a field of a table as AMQP 1.0 has it.
func value(v any) any {
	switch v := v.(type) {
	case protocol.Timestamp:
		return amqp10.Timestamp(min(v, math.MaxInt64/1000) * 1000)
	case protocol.Decimal:
		return float64(v.Value) / math.Pow10(int(v.Scale))
	case protocol.Array:
		list := make(amqp10.List, 0, len(v))
		for _, e := range v {
			list = append(list, value(e))
		}
		return list
	case protocol.Table:
		m := make(amqp10.Map, 0, len(v))
		for _, f := range v {
			m = append(m, amqp10.Entry{Key: f.Key, Value: value(f.Value)})
		}
		return m
	}
	return v
}

// deaths is x-death as an array of maps.
func deaths(v any) any {
	list, _ := v.(protocol.Array)
	out := amqp10.Array{Of: amqp10.TypeMap}
	for _, e := range list {
		death, ok := e.(protocol.Table)
		if !ok {
			continue
		}
		m := amqp10.Map{}
		for _, f := range death {
			entry := amqp10.Entry{Key: amqp10.Symbol(ascii(f.Key)), Value: value(f.Value)}
			switch f.Key {
			case "time":
				m = append(m, amqp10.Entry{Key: amqp10.Symbol("last-time"), Value: entry.Value})
				entry.Key = amqp10.Symbol("first-time")
			case "count":
				n, _ := protocol.Int64(f.Value)
				entry.Value = uint64(max(n, 0))
			case "reason":
				if text, ok := f.Value.(string); ok {
					entry.Value = amqp10.Symbol(ascii(text))
				}
			case "routing-keys":
				entry.Value = keys(f.Value)
			}
			m = append(m, entry)
		}
		out.Values = append(out.Values, m)
	}
	return out
}

func keys(v any) amqp10.Array {
	out := amqp10.Array{Of: amqp10.TypeString}
	list, _ := v.(protocol.Array)
	for _, e := range list {
		if text, ok := e.(string); ok {
			out.Values = append(out.Values, text)
		}
	}
	return out
}
