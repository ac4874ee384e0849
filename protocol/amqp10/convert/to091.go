package convert

import (
	"strconv"
	"strings"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// maxShort is the longest short string of 0-9-1 in bytes.
const maxShort = 255

// To091 returns properties and body of a message of AMQP 1.0, whose sections are s, for 0-9-1; exchange and routing key are up to where it
// was published. The body aliases the message if it is one data section, or sections other than data; else it is a copy. The error is
// *amqp10.Error amqp:invalid-field, for a header or properties that are none.
func To091(s *amqp10.Sections) (p protocol.Properties, body []byte, err error) {
	var from amqp10.Properties
	if err := s.Properties(&from); err != nil {
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
	properties(&p, &from)
	headers(&p, s)
	if s.BodyKind != amqp10.SectionData {
		if s.BodyKind != 0 {
			set(&p, &p.Type, protocol.FlagType, typeEncoded)
		}
		return p, s.Body(), nil
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

// properties sets what the properties of AMQP 1.0 tell. Ids that are no short string become headers.
func properties(p *protocol.Properties, from *amqp10.Properties) {
	header := func(key string, v any) {
		p.Headers = append(p.Headers, protocol.Field{Key: key, Value: v})
		p.Flags |= protocol.FlagHeaders
	}
	id := func(field *string, flag uint16, key string, v amqp10.Value) {
		switch v := v.Decode().(type) {
		case string:
			if !set(p, field, flag, v) {
				header(key, v)
			}
		case uint64:
			set(p, field, flag, strconv.FormatUint(v, 10))
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

// headers adds the headers that annotations and application properties become. What the broker itself tells in annotations is left out.
func headers(p *protocol.Properties, s *amqp10.Sections) {
	if annotations, ok := s.MessageAnnotations.Decode().(amqp10.Map); ok {
		if kind, ok := annotations.Get("x-basic-type"); ok {
			if kind, ok := kind.(string); ok {
				set(p, &p.Type, protocol.FlagType, kind)
			}
		}
		p.Headers = append(p.Headers, table(annotations, annotationHeader)...)
	}
	if application, ok := s.ApplicationProperties.Decode().(amqp10.Map); ok {
		p.Headers = append(p.Headers, table(application, keyText)...)
	}
	if len(p.Headers) == 0 {
		return
	}
	if _, err := protocol.AppendTable(nil, p.Headers); err != nil { // nested too deeply for a table
		p.Headers = nil
		return
	}
	p.Flags |= protocol.FlagHeaders
}

// annotationHeader is the header that an annotation becomes.
func annotationHeader(key any) (string, bool) {
	name, ok := keyText(key)
	switch name {
	case "x-exchange", "x-routing-key", "x-basic-type", "x-opt-deaths":
		return "", false
	case "x-cc":
		return "CC", true
	}
	return name, ok && strings.HasPrefix(name, "x-")
}
