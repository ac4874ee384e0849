package convert

import (
	"fmt"
	"strconv"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// maxShort is the longest short string of 0-9-1 in bytes.
const maxShort = 255

// To091 returns properties and body of a message of AMQP 1.0, whose sections are s, for 0-9-1; exchange and routing key
// depend on where the message was published. from is set to the properties that it has. A body of sections other than
// data stays encoded, with the footer. The body aliases the message unless it is several data sections. The error is
// *amqp10.Error amqp:invalid-field, for an invalid header or invalid properties.
func To091(s *amqp10.Sections, from *amqp10.Properties) (p protocol.Properties, body []byte, err error) {
	if err := s.Properties(from); err != nil {
		return protocol.Properties{}, nil, err
	}
	h, err := s.Header()
	if err != nil {
		return protocol.Properties{}, nil, err
	}
	p.DeliveryMode, p.Flags = 1, protocol.FlagDeliveryMode
	if h.Durable {
		p.DeliveryMode = 2
	}
	if h.Priority.Set {
		p.Priority = h.Priority.Value
		p.Flags |= protocol.FlagPriority
	}
	if h.TTL.Set {
		set(&p, &p.Expiration, protocol.FlagExpiration, strconv.FormatUint(uint64(h.TTL.Value), 10))
	}
	if s.HasProperties() {
		properties(&p, from)
	}
	headers(&p, s)
	if s.BodyKind != amqp10.SectionData {
		if s.BodyKind != 0 {
			set(&p, &p.Type, protocol.FlagType, typeEncoded)
		}
		return p, s.BodyAndFooter(), nil
	}
	for _, v := range s.BodyValues() {
		data, _ := v.Binary()
		if body == nil {
			body = data
		} else {
			body = append(body, data...) // data has no room behind it: this copies
		}
	}
	return p, body, nil
}

// set sets a property that is a short string, unless text is too long for one.
func set[T ~string | ~[]byte](p *protocol.Properties, field *string, flag uint16, text T) bool {
	if len(text) > maxShort {
		return false
	}
	*field = string(text)
	p.Flags |= flag
	return true
}

// properties translates the properties of AMQP 1.0. Ids of other types than a short string become headers.
func properties(p *protocol.Properties, from *amqp10.Properties) {
	header := func(key string, v any) {
		p.Headers = append(p.Headers, protocol.Field{Key: key, Value: v})
		p.Flags |= protocol.FlagHeaders
	}
	id := func(field *string, flag uint16, key string, v amqp10.Value) {
		if text, ok := v.Text(); ok && set(p, field, flag, text) {
			return
		}
		switch v := v.Decode().(type) {
		case string:
			header(key, v)
		case uint64, uint32, uint16, uint8, int64, int32, int16, int8:
			set(p, field, flag, fmt.Sprint(v))
		case amqp10.UUID:
			set(p, field, flag, uuidText(v))
		case []byte:
			header(key, v)
		}
	}
	id(&p.MessageID, protocol.FlagMessageID, "x-message-id", from.MessageID)
	id(&p.CorrelationID, protocol.FlagCorrelationID, "x-correlation-id", from.CorrelationID)
	for _, t := range []struct {
		field *string
		flag  uint16
		text  []byte
	}{
		{&p.UserID, protocol.FlagUserID, from.UserID},
		{&p.ReplyTo, protocol.FlagReplyTo, replyTo091(from.ReplyTo)},
		{&p.ContentType, protocol.FlagContentType, from.ContentType},
		{&p.ContentEncoding, protocol.FlagContentEncoding, from.ContentEncoding},
		{&p.AppID, protocol.FlagAppID, from.GroupID},
	} {
		if t.text != nil {
			set(p, t.field, t.flag, t.text)
		}
	}
	if from.CreationTime.Set {
		p.Timestamp = seconds(from.CreationTime.Value)
		p.Flags |= protocol.FlagTimestamp
	}
}

// headers adds the headers that annotations and application properties become. Annotations that the broker itself adds
// are left out.
func headers(p *protocol.Properties, s *amqp10.Sections) {
	nested := false
	for key, v := range s.MessageAnnotations.Entries() {
		name, ok := key.Text()
		switch {
		case !ok:
		case string(name) == "x-basic-type":
			if kind, _ := v.Text(); v.Type() == amqp10.TypeString {
				set(p, &p.Type, protocol.FlagType, kind)
			}
		case string(name) == "x-cc":
			nested = header(p, ccKey, v) || nested
		case !hasHeader(name) || isBrokers(name):
		default:
			nested = header(p, name, v) || nested
		}
	}
	for key, v := range s.ApplicationProperties.Entries() {
		if name, ok := key.Text(); ok {
			nested = header(p, name, v) || nested
		}
	}
	if len(p.Headers) == 0 {
		return
	}
	if nested {
		if _, err := protocol.AppendTable(nil, p.Headers); err != nil { // too deeply for a table
			p.Headers = nil
			return
		}
	}
	p.Flags |= protocol.FlagHeaders
}

// ownPrefix begins the names of annotations that become headers; ccKey is the header for an annotation with another
// name.
var ownPrefix, ccKey = []byte("x-"), []byte("CC")

// header adds a header, unless 0-9-1 has no type for its value or it has too long a name. It reports whether it holds others.
func header(p *protocol.Properties, key []byte, from amqp10.Value) (nested bool) {
	v, ok := to091(from.Decode())
	if ok && len(key) <= maxShort {
		p.Headers = append(p.Headers, protocol.Field{Key: string(key), Value: v})
	}
	return !scalar(v)
}
