package content

import (
	"bytes"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology/canonical"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// Match is a condition on what the publisher of a message has set. The zero value holds for all messages.
type Match struct {
	ID            uint32 // hash of the message-id, 0 if any will do
	messageID     string
	correlationID string
	headers       []wanted
	value         []byte // reused
}

// wanted is a header with its value in canonical form.
type wanted struct {
	name  string
	value []byte
}

// MatchOf returns the condition of a filter.
func MatchOf(f *mail.ScheduledFilter) (m Match) {
	if m.messageID, m.correlationID = f.MessageID, f.CorrelationID; m.messageID != "" {
		m.ID = store.HashID(m.messageID)
	}
	for _, h := range f.Headers {
		m.headers = append(m.headers, wanted{h.Key, canonical.Value(nil, h.Value)})
	}
	return m
}

// All reports whether the condition holds for all messages.
func (m *Match) All() bool { return m.messageID == "" && m.correlationID == "" && len(m.headers) == 0 }

// Cost returns how many bytes are read to judge a message with these properties.
func (m *Match) Cost(properties []byte) int { return len(properties) * (1 + len(m.headers)) }

// Holds reports whether the condition holds for a message with these raw properties.
func (m *Match) Holds(properties []byte) bool {
	if m.All() {
		return true
	}
	scan := Scan(properties)
	if m.messageID != "" && string(scan.MessageID) != m.messageID || m.correlationID != "" && string(scan.CorrelationID) != m.correlationID {
		return false
	}
	for i := range m.headers {
		if !m.header(&m.headers[i], scan.Headers) {
			return false
		}
	}
	return true
}

// header reports whether a message has a header with the value that is wanted.
func (m *Match) header(w *wanted, headers []byte) bool {
	if headers == nil {
		return false
	}
	v, found, err := protocol.LookupField(headers, w.name)
	if err != nil || !found {
		return false
	}
	m.value = canonical.Value(m.value[:0], v)
	return bytes.Equal(m.value, w.value)
}
