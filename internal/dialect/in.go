package dialect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// EncodedSections is the type property of a message whose body is the encoded sections of one of AMQP 1.0, because that is not
// one data section.
const EncodedSections = "amqp-1.0"

// LargestHeader is the largest property list in bytes that a message may have: readers of 0-9-1 get it in one frame.
const LargestHeader = 120 << 10

// Headers that stand for properties which 0-9-1 does not have.
const (
	headerTo             = "x-to"
	headerSubject        = "x-subject"
	headerReplyToGroup   = "x-reply-to-group-id"
	headerGroupSequence  = "x-group-sequence"
	headerAbsoluteExpiry = "x-absolute-expiry-time"
	headerMessageID      = "x-message-id"
	headerCorrelationID  = "x-correlation-id"
)

// Content is a message of AMQP 1.0 as the broker keeps it.
type Content struct {
	Header     []byte // property list
	Headers    []byte // the table in it
	Body       []byte // aliases what it was read from
	CC         []string
	UserID     []byte
	HasUserID  bool
	To         string // address, "" when absent
	TTL        int64  // ms, -1 for none
	Priority   uint8
	Persistent bool
}

// Read translates a message, all of its sections. Errors: *amqp10.Error for what is no message, or one whose properties are
// too large.
func Read(encoded []byte) (c Content, err error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return c, err
	}
	h, err := s.Header()
	if err != nil {
		return c, err
	}
	var from amqp10.Properties
	if err := s.Properties(&from); err != nil {
		return c, err
	}
	var p protocol.Properties
	p.DeliveryMode, p.Flags = 1, protocol.FlagDeliveryMode
	if !s.HasHeader() { // as before RabbitMQ 4.2
		h.Durable = true
	}
	if h.Priority.Set {
		p.Priority, p.Flags = h.Priority.Value, p.Flags|protocol.FlagPriority
		c.Priority = h.Priority.Value
	}
	if c.Persistent = h.Durable; h.Durable {
		p.DeliveryMode = 2
	}
	c.TTL = -1
	if h.TTL.Set {
		c.TTL = int64(h.TTL.Value)
		set(&p, protocol.FlagExpiration, &p.Expiration, strconv.FormatInt(c.TTL, 10))
	}
	readProperties(&p, &from)
	c.To, c.UserID, c.HasUserID = string(from.To), from.UserID, from.UserID != nil
	c.CC = readAnnotations(&p, s.MessageAnnotations)
	for key, v := range s.ApplicationProperties.Entries() {
		if name, ok := key.Text(); ok {
			setHeader(&p, string(name), v)
		}
	}
	c.Body = body(&p, &s)
	if p.Headers != nil {
		p.Flags |= protocol.FlagHeaders
	}
	c.Header = p.Append(nil)
	if len(c.Header) > LargestHeader {
		return c, amqp10.Errorf(amqp10.ResourceLimitExceeded, "properties and annotations take %d bytes, more than %d", len(c.Header), LargestHeader)
	}
	scan, err := protocol.ScanProperties(c.Header)
	if err != nil {
		return c, amqp10.Errorf(amqp10.InvalidField, "properties that cannot be kept: %v", err)
	}
	c.Headers = scan.Headers
	return c, nil
}

// body is one data section's bytes, or all sections as they are.
func body(p *protocol.Properties, s *amqp10.Sections) []byte {
	if s.BodyKind == 0 {
		return nil
	}
	n := 0
	var data []byte
	for _, v := range s.BodyValues() {
		data, _ = v.Binary()
		n++
	}
	if s.BodyKind == amqp10.SectionData && n == 1 {
		return data
	}
	p.Type, p.Flags = EncodedSections, p.Flags|protocol.FlagType
	return s.Body()
}

// set sets a property that is a short string; false if it is too long for one.
func set(p *protocol.Properties, flag uint16, field *string, v string) bool {
	if len(v) > math.MaxUint8 {
		return false
	}
	*field, p.Flags = v, p.Flags|flag
	return true
}

func readProperties(p *protocol.Properties, from *amqp10.Properties) {
	readID(p, protocol.FlagMessageID, &p.MessageID, headerMessageID, from.MessageID)
	readID(p, protocol.FlagCorrelationID, &p.CorrelationID, headerCorrelationID, from.CorrelationID)
	for _, x := range []struct {
		flag  uint16
		field *string
		from  []byte
	}{
		{protocol.FlagUserID, &p.UserID, from.UserID},
		{protocol.FlagReplyTo, &p.ReplyTo, from.ReplyTo},
		{protocol.FlagContentType, &p.ContentType, from.ContentType},
		{protocol.FlagContentEncoding, &p.ContentEncoding, from.ContentEncoding},
		{protocol.FlagAppID, &p.AppID, from.GroupID},
	} {
		if x.from != nil {
			set(p, x.flag, x.field, string(x.from))
		}
	}
	if from.CreationTime.Set && from.CreationTime.Value >= 0 {
		p.Timestamp, p.Flags = protocol.Timestamp(from.CreationTime.Value/1000), p.Flags|protocol.FlagTimestamp
	}
	for _, x := range []struct {
		name string
		from []byte
	}{{headerTo, from.To}, {headerSubject, from.Subject}, {headerReplyToGroup, from.ReplyToGroupID}} {
		if x.from != nil {
			p.Headers = append(p.Headers, protocol.Field{Key: x.name, Value: string(x.from)})
		}
	}
	if from.GroupSequence.Set {
		p.Headers = append(p.Headers, protocol.Field{Key: headerGroupSequence, Value: int64(from.GroupSequence.Value)})
	}
	if from.AbsoluteExpiryTime.Set {
		p.Headers = append(p.Headers, protocol.Field{Key: headerAbsoluteExpiry, Value: int64(from.AbsoluteExpiryTime.Value)})
	}
}

// readID keeps a message id as text, or in a header if it is binary or too long.
func readID(p *protocol.Properties, flag uint16, field *string, header string, v amqp10.Value) {
	var kept any
	switch id := v.Decode().(type) {
	case string:
		if set(p, flag, field, id) {
			return
		}
		kept = id
	case uint64:
		set(p, flag, field, strconv.FormatUint(id, 10))
	case amqp10.UUID:
		set(p, flag, field, fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
	case []byte:
		kept = id
	}
	if kept != nil {
		p.Headers = append(p.Headers, protocol.Field{Key: header, Value: kept})
	}
}

// readAnnotations takes what publishers may annotate: routing keys, a type and headers that begin with x-. What the broker
// itself annotates is its own.
func readAnnotations(p *protocol.Properties, annotations amqp10.Value) (cc []string) {
	for key, v := range annotations.Entries() {
		name, ok := key.Text()
		switch text := string(name); {
		case !ok || !strings.HasPrefix(text, "x-") || text == "x-exchange" || text == "x-routing-key":
		case text == "x-basic-type":
			if t, ok := v.Text(); ok {
				set(p, protocol.FlagType, &p.Type, string(t))
			}
		case text == "x-cc":
			list, _ := v.Decode().(amqp10.List)
			var kept protocol.Array
			for _, e := range list {
				if k, ok := e.(string); ok && len(k) <= math.MaxUint8 {
					cc, kept = append(cc, k), append(kept, k)
				}
			}
			p.Headers = append(p.Headers, protocol.Field{Key: "CC", Value: kept})
		default:
			setHeader(p, text, v)
		}
	}
	return cc
}

func setHeader(p *protocol.Properties, name string, v amqp10.Value) {
	if len(name) > math.MaxUint8 {
		return
	}
	if kept, ok := field(v.Decode(), 1); ok {
		p.Headers = append(p.Headers, protocol.Field{Key: name, Value: kept})
	}
}

// deepest is how deep lists and maps in annotations may be nested; what is below is left out.
const deepest = 8

// field is a value as a field table has it; false for one that it cannot have.
func field(v any, level int) (any, bool) {
	switch v := v.(type) {
	case nil, bool, int8, uint8, int16, uint16, int32, uint32, int64, string, []byte:
		return v, true
	case uint64:
		return int64(v), true
	case float32:
		return v, !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case amqp10.Symbol:
		return string(v), true
	case amqp10.Char:
		return int32(v), true
	case amqp10.UUID:
		return v[:], true
	case amqp10.Timestamp:
		return protocol.Timestamp(max(v, 0) / 1000), true
	case amqp10.List:
		return array(v, level)
	case amqp10.Array:
		return array(v.Values, level)
	case amqp10.Map:
		return table(v, level)
	}
	return nil, false
}

func array(list []any, level int) (any, bool) {
	out := protocol.Array{}
	for _, e := range list {
		if kept, ok := field(e, level+1); ok && level < deepest {
			out = append(out, kept)
		}
	}
	return out, true
}

func table(m amqp10.Map, level int) (any, bool) {
	out := protocol.Table{}
	for _, e := range m {
		name, ok := e.Key.(string)
		if symbol, is := e.Key.(amqp10.Symbol); is {
			name, ok = string(symbol), true
		}
		if kept, fits := field(e.Value, level+1); ok && fits && level < deepest && len(name) <= math.MaxUint8 {
			out = append(out, protocol.Field{Key: name, Value: kept})
		}
	}
	return out, true
}
