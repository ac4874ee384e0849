package message

import "candlemark/protocol"

// Message is one AMQP content with the arguments of its method. Its slices alias the read chunk it arrived in unless
// Owned is set; they are never written to.
type Message struct {
	Exchange   []byte // exchange it was published to, "" is the default exchange
	RoutingKey []byte
	Header     []byte   // raw property flags and list as they arrived
	Body       []byte   // whole body, joined if it arrived in several frames
	Overlay    *Overlay // nil unless the broker has something to add
	// Number identifies the message in EnqueueReply, 0 for
	// nothing: a channel's publish number or the dead-letter actor's ticket.
	Number uint64
	// TTL is the parsed expiration property in ms, or a lower cap of an exchange on the route; NoTTL without either
	// (TTL-5, TTL-9).
	TTL      int64
	Priority uint8 // priority property, 0 without one
	// Spread is the binary logarithm, rounded up, of the number of queues to which it was published (DL-32).
	Spread uint8
	// Owned reports whether the slices do not alias a read chunk: a queue may keep them instead of copying (PRO-11).
	Owned bool
	// Share counts the memory of a content above ShareFrom for all its holders; nil for a content not yet held or sent
	// to several queues.
	Share *Share
}

// MaxHeader is the maximum size in bytes of a property list, without an original, made by the broker: clients of 0-9-1
// receive it in one frame.
const MaxHeader = 120 << 10

// NoTTL is the TTL of a message without expiration property.
const NoTTL = -1

// Persistent reports whether the delivery-mode is 2.
func (m *Message) Persistent() bool { return protocol.Persistent(m.Header) }

// Size returns the bytes of content that the message adds to a queue.
func (m *Message) Size() int {
	return len(m.Exchange) + len(m.RoutingKey) + len(m.Header) + len(m.Body)
}

// Cap lowers the TTL to ms; a negative ms is no cap.
func (m *Message) Cap(ms int64) {
	if ms >= 0 && (m.TTL < 0 || ms < m.TTL) {
		m.TTL = ms
	}
}

// Own copies slices that alias a read chunk, so that the message outlives it.
func (m *Message) Own() {
	if m.Owned {
		return
	}
	buf := make([]byte, 0, m.Size())
	take := func(src []byte) []byte {
		start := len(buf)
		buf = append(buf, src...)
		return buf[start:len(buf):len(buf)]
	}
	m.Exchange, m.RoutingKey = take(m.Exchange), take(m.RoutingKey)
	m.Header, m.Body = take(m.Header), take(m.Body)
	m.Owned = true
}
