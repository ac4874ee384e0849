package dialect

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"candlemark/internal/routing/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Content is an AMQP 1.0 message in the broker's form.
type Content struct {
	Header    []byte // property list, with the original
	Headers   []byte // the table in it
	Body      []byte // may alias the encoded message
	CC        []string
	BadCC     *amqp10.Error // set if the annotation x-cc is not a list of routing keys
	UserID    []byte
	HasUserID bool
	To        string // address, "" when absent
	TTL       int64  // ms, -1 for none
	Priority  uint8
	Delay     Delay
}

// scheduled is the annotation by which clients of Azure Service Bus schedule a message, and deliverAt the broker's
// header for it.
const scheduled, deliverAt = "x-opt-scheduled-enqueue-time", "x-deliver-at"

// maxDescribed is how many bytes the sections may have that are decoded, which takes up to 32 times as much memory. In 0-9-1,
// whose limit is message.MaxHeader, no more than a few bytes of each name are saved.
const maxDescribed = 2 * message.MaxHeader

func tooLarge(bytes int) error {
	return amqp10.Errorf(amqp10.ResourceLimitExceeded, "properties and annotations take %d bytes, more than %d", bytes, message.MaxHeader)
}

// read translates a message with all its sections. A message to an entity of Azure Service Bus is durable, gets a
// message-id if it has none, keeps its header (SBE-19), and may contain its time of delivery. Errors: *amqp10.Error if the bytes are not a
// message, or its properties are too large.
func read(encoded []byte, s *amqp10.Sections, entity bool) (c Content, err error) {
	if n := s.Described(); n > maxDescribed {
		return c, tooLarge(n)
	}
	if entity {
		if encoded, err = identified(encoded, s); err != nil {
			return c, err
		}
	}
	if c.Delay, err = DelayOf(s.MessageAnnotations.Lookup(deliveryTime).Decode(), s.MessageAnnotations.Lookup(deliveryDelay).Decode()); err != nil {
		return c, err
	}
	var from amqp10.Properties
	p, body, err := convert.To091(s, &from)
	if err != nil {
		return c, err
	}
	if !s.HasHeader() || entity { // durable, as before RabbitMQ 4.2
		p.DeliveryMode = 2
		p.Flags |= protocol.FlagDeliveryMode
	}
	if at, ok := s.MessageAnnotations.Lookup(scheduled).Timestamp(); ok && entity {
		p.Headers, p.Flags = p.Headers.Set(deliverAt, int64(at)), p.Flags|protocol.FlagHeaders
	}
	c.Body, c.Priority, c.TTL = body, p.Priority, -1
	c.To, c.UserID, c.HasUserID = string(from.To), from.UserID, from.UserID != nil
	if p.Has(protocol.FlagExpiration) {
		c.TTL, _ = strconv.ParseInt(p.Expiration, 10, 64) // a uint32
	}
	if keys := s.MessageAnnotations.Lookup("x-cc"); keys != nil {
		c.CC, c.BadCC = carbonCopies(keys)
	}
	c.Header = p.Append(make([]byte, 0, 2*(len(encoded)-len(body))+32)) // the original has mostly the same contents as the list
	if len(c.Header) > message.MaxHeader {
		return c, tooLarge(len(c.Header))
	}
	list := len(c.Header)
	c.Header = convert.AppendOriginal(c.Header, encoded, s)
	if entity {
		c.Header = convert.AppendHeader(c.Header, s)
	}
	c.Header = protocol.WithOriginal(c.Header, list)
	if p.Has(protocol.FlagHeaders) {
		scan, err := protocol.ScanProperties(c.Header)
		if err != nil {
			return c, amqp10.Errorf(amqp10.InvalidField, "unsupported properties: %v", err)
		}
		c.Headers = scan.Headers
	}
	return c, nil
}

// carbonCopies reads the annotation x-cc: a list of strings, or null.
func carbonCopies(encoded amqp10.Value) (keys []string, bad *amqp10.Error) {
	v := encoded.Decode()
	list, ok := v.(amqp10.List)
	for _, key := range list {
		text, isText := key.(string)
		ok = ok && isText && len(text) <= 255
		keys = append(keys, text)
	}
	if !ok && v != nil {
		return nil, amqp10.Errorf(amqp10.InvalidField, "bad value for 'x-cc' message-annotation: %s", term(v))
	}
	return keys, nil
}

// term returns a value as RabbitMQ prints it, for texts and lists of texts.
func term(v any) string {
	all := func(values []any) string {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = term(v)
		}
		return "[" + strings.Join(texts, ",") + "]"
	}
	switch v := v.(type) {
	case string:
		return `{utf8,<<"` + v + `">>}`
	case amqp10.Symbol:
		return `{symbol,<<"` + string(v) + `">>}`
	case amqp10.List:
		return "{list," + all(v) + "}"
	case amqp10.Array:
		return "{array,utf8," + all(v.Values) + "}"
	}
	return fmt.Sprint(v)
}

// identified returns the message with a message-id, its own or a random one; clients cannot settle it without. It
// updates s.
func identified(encoded []byte, s *amqp10.Sections) ([]byte, error) {
	var p amqp10.Properties
	if err := s.Properties(&p); err != nil || p.MessageID != nil {
		return encoded, err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	p.MessageID = amqp10.AppendString(nil, hex.EncodeToString(id[:]))
	with := amqp10.AppendComposite(encoded[:s.BareStart:s.BareStart], &p)
	if s.ApplicationProperties != nil {
		with = amqp10.AppendSection(with, amqp10.SectionApplicationProperties, s.ApplicationProperties)
	}
	with = append(append(with, s.Body()...), encoded[s.BareEnd:]...)
	var err error
	*s, err = amqp10.ScanSections(with)
	return with, err
}
