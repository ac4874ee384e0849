package management

import (
	"bytes"
	"strconv"
	"strings"

	"candlemark/protocol/amqp10"
)

// Address is the address of the node.
const Address = "/management"

// Request is one request. It aliases nothing.
type Request struct {
	Verb    string // of HTTP
	Path    string // with the query
	ReplyTo string // "$me" is the link of the pair
	id      amqp10.Value
	body    any
}

// Read reads a request, which is a whole message. The error is an *amqp10.Error if it is not a request.
func Read(encoded []byte) (*Request, error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return nil, err
	}
	var p amqp10.Properties
	if err := s.Properties(&p); err != nil {
		return nil, err
	}
	r := &Request{Verb: string(p.Subject), Path: string(p.To), ReplyTo: string(p.ReplyTo), id: bytes.Clone(p.MessageID)}
	if s.BodyKind == amqp10.SectionValue {
		for _, v := range s.BodyValues() {
			r.body = v.Decode()
		}
	}
	return r, nil
}

// Answer answers a request.
type Answer struct {
	Code int // of HTTP
	Body any // nil, a text, an amqp10.Map or an amqp10.List
}

// Append appends the answer to r, a whole message.
func (r *Request) Append(dst []byte, a Answer) []byte {
	dst = amqp10.AppendComposite(dst, &amqp10.Properties{Subject: strconv.AppendInt(nil, int64(a.Code), 10), CorrelationID: r.id})
	for _, section := range []struct {
		code  uint64
		value any
	}{
		{amqp10.SectionApplicationProperties, amqp10.Map{{Key: "http:response", Value: "1.1"}}}, {amqp10.SectionValue, a.Body},
	} {
		v, err := amqp10.Append(nil, section.value)
		if err != nil { // arguments of a queue that AMQP 1.0 cannot encode, such as too many levels
			v = amqp10.AppendNull(nil)
		}
		dst = amqp10.AppendSection(dst, section.code, v)
	}
	return dst
}

// text names a value in a refusal.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case amqp10.Symbol:
		return string(v)
	}
	return "that is not a string"
}

// short cuts a client's text to the 255 bytes that an answer repeats.
func short(s string) string { return strings.ToValidUTF8(s[:min(len(s), 255)], "") }
