package dialect

import (
	"bytes"

	"candlemark/internal/routing/message"
	"candlemark/protocol/amqp10"
)

// maxRepeated is the maximum number of bytes before a body to compare with the previous message.
const maxRepeated = 1 << 10

// remembering is the number of links of a session, those with the lowest handles, that remember their last message: a
// client may have hundreds of thousands of links.
const remembering = 16

// Reader translates the messages of a link, which often differ only in the contents of their bodies: bytes before the
// body that repeat are translated only once. The zero value is ready. It keeps a few KiB at most.
type Reader struct {
	head    []byte // the beginning of the last message, up to the contents of its only data section
	size    int    // of that message in bytes
	content Content
	forgets bool // keeps nothing
}

// NewReader returns the Reader of a link with a handle. Only links with low handles remember messages.
func NewReader(handle uint32) Reader { return Reader{forgets: handle >= remembering} }

// Read translates a message; entity must be the same each time. Callers must not write to the slices of the content.
func (r *Reader) Read(encoded []byte, entity bool) (c Content, err error) {
	if n := len(r.head); n > 0 && len(encoded) == r.size && bytes.Equal(encoded[:n], r.head) {
		c = r.content
		c.Body = encoded[n:]
		return c, nil
	}
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		if ordered, ok := amqp10.FooterLast(encoded); ok { // rhea writes it so
			encoded = ordered
			s, err = amqp10.ScanSections(encoded)
		}
	}
	if err != nil {
		return c, err
	}
	isData := s.BodyKind == amqp10.SectionData
	if c, err = read(encoded, &s, entity); err != nil {
		return c, err
	}
	r.head = r.head[:0]
	if n := len(encoded) - len(c.Body); !r.forgets && isData && n <= maxRepeated && endsWith(encoded, c.Body) {
		r.head, r.size, r.content = append(r.head, encoded[:n]...), len(encoded), c
		r.content.Body, r.content.UserID = nil, bytes.Clone(c.UserID)
	}
	return c, nil
}

// endsWith reports whether body is the end of whole: the same bytes in memory.
func endsWith(whole, body []byte) bool {
	n := len(whole) - len(body)
	return len(body) > 0 && n >= 0 && &body[0] == &whole[n]
}

// Writer is [Append] for the messages to a link, where consecutive ones often have the same sections before their
// bodies. The zero value is ready. It keeps at most 2 KiB.
type Writer struct {
	last        []byte // exchange, routing key and property list of the last message
	exchange    int    // length of the exchange in last
	key         int    // length of the routing key
	body        int    // bytes of its body
	redelivered bool
	head        []byte // its sections before the body; nil if there is none to compare with
	forgets     bool   // keeps nothing
}

// NewWriter returns the Writer of a link with a handle, see [NewReader].
func NewWriter(handle uint32) Writer { return Writer{forgets: handle >= remembering} }

// Append is [Append].
func (w *Writer) Append(dst []byte, m *message.Message, d Outgoing) (head, body []byte, err error) {
	if m.Overlay != nil || d.Entity != nil || w.forgets {
		return Append(dst, m, d)
	}
	if len(w.head) > 0 && w.is(m, d) {
		return append(dst, w.head...), m.Body, nil
	}
	start := len(dst)
	if head, body, err = Append(dst, m, d); err != nil {
		return head, body, err
	}
	w.head = w.head[:0]
	size := len(m.Exchange) + len(m.RoutingKey) + len(m.Header)
	if written := head[start:]; max(size, len(written)) <= maxRepeated && endsWith(m.Body, body) && len(body) == len(m.Body) && !bytes.Contains(m.Header, encodedBody) {
		w.last = append(append(append(w.last[:0], m.Exchange...), m.RoutingKey...), m.Header...)
		w.exchange, w.key, w.body, w.redelivered = len(m.Exchange), len(m.RoutingKey), len(m.Body), d.Redelivered
		w.head = append(w.head, written...)
	}
	return head, body, nil
}

// encodedBody is in the property list of a message whose body is encoded as AMQP 1.0 sections.
var encodedBody = []byte("amqp-1.0")

// is reports whether a message has the same sections before its body as the last one.
func (w *Writer) is(m *message.Message, d Outgoing) bool {
	key := w.last[w.exchange:]
	return w.body == len(m.Body) && w.redelivered == d.Redelivered &&
		string(w.last[:w.exchange]) == string(m.Exchange) && string(key[:w.key]) == string(m.RoutingKey) && string(key[w.key:]) == string(m.Header)
}
