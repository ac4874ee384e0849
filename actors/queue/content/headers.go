package content

import (
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// Times are the times that publishers set in headers, converted from the wall clock to the broker's time (ADR 19).
type Times struct {
	// Due is when the message is to be released (DLY-8), ID the hash of its message-id, 0 for none.
	Due timeheaders.Due
	ID  uint32
	// Expires is the time at which it expires by its header (TTL-9), in ms of the broker's time, if Dated.
	Expires int64
	Dated   bool
}

// Reader reads the times that matter to a queue.
type Reader struct {
	// Holds: the queue holds the messages of an exchange, and only x-delay counts (DLY-2). Schedules: dates count, too
	// (DLY-8, DLY-15), also in the header DeliverAt.
	Holds, Schedules bool
	DeliverAt        string
	ExpiresAt        string // the header with the time of expiry, "" for none
	Dates            *clock.Dates
}

// Looks reports whether the queue has to read any times.
func (r *Reader) Looks() bool { return r.Holds || r.Schedules || r.ExpiresAt != "" }

// Times returns the times of a message with these properties that arrives now. Invalid values are ignored; the channel has refused them
// before. A message that was delayed already is not delayed again (DLY-9), and a dead letter loses its publisher's
// deadline (DL-17).
func (r *Reader) Times(m *message.Message, scan *protocol.Scan, now clock.Instant) (t Times) {
	if scan.Headers == nil {
		return t
	}
	switch {
	case r.Holds && !r.Schedules:
		t.Due.At = store.After(now.Ceil(), timeheaders.DelayIn(scan.Headers))
	case !r.Schedules || m.Overlay != nil && (m.Overlay.Held || m.Overlay.Delayed != 0):
	default: // an invalid value delays nothing
		t.Due, _ = timeheaders.DueOf(scan.Headers, r.DeliverAt, now.Ceil(), r.Dates)
	}
	if t.Due.At > now.Floor() && len(scan.MessageID) > 0 {
		t.ID = store.HashID(scan.MessageID)
	}
	t.Expires, t.Dated = r.expiry(m.Overlay, scan.Headers)
	return t
}

// Expiry returns the expiry time in a message's header, if any.
func (r *Reader) Expiry(o *message.Overlay, header []byte) (at int64, ok bool) {
	if r.ExpiresAt == "" || o.Undated() {
		return 0, false
	}
	headers := Scan(header).Headers
	if headers == nil {
		return 0, false
	}
	return r.expiry(o, headers)
}

func (r *Reader) expiry(o *message.Overlay, headers []byte) (at int64, ok bool) {
	if r.ExpiresAt == "" || o.Undated() {
		return 0, false
	}
	at, ok, _ = timeheaders.ExpiryOf(headers, r.ExpiresAt, r.Dates)
	return at, ok
}

// Priority returns the message's priority property, which the queue caps at its own highest priority (DL-18).
func Priority(m *message.Message) uint8 {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil {
		return m.Priority
	}
	return scan.Priority
}

// MessageID returns the property message-id of raw properties.
func MessageID(header []byte) string {
	return string(Scan(header).MessageID)
}
