package content

import (
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology/moments"
	"candlemark/protocol"
)

// Times are moments that publishers name in headers, by the wall clock; the queue goes by the broker's time (ADR 19).
type Times struct {
	// Due is when the message is to be released (DLY-8), and ID the hash of its message-id, 0 for none.
	Due moments.Due
	ID  uint32
	// Expires is when it expires by its header (TTL-9), in ms of the broker's time; Dated says that it has one.
	Expires int64
	Dated   bool
}

// Reader finds the times that a queue looks for.
type Reader struct {
	// Holds: the queue is the holder of a delayed exchange, for which x-delay alone counts (DLY-2). Schedules: it looks for
	// dates, too (DLY-8), DeliverAt being one more header with one.
	Holds, Schedules bool
	DeliverAt        string
	ExpiresAt        string // the header with the moment of expiry, "" for none
	Skew             int64  // ms that a date is ahead of its time here (clock.Skew)
}

// Looks reports whether there is anything that it looks for.
func (r *Reader) Looks() bool { return r.Holds || r.Schedules || r.ExpiresAt != "" }

// Times are those of a message that comes now. What cannot be made out counts for nothing: the publisher was told, if it
// came from one. What was held already is not held again (DLY-9), and a dead letter has no deadline of its publisher's any
// more (DL-17).
func (r *Reader) Times(m *message.Message, now clock.Instant) (t Times) {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil || scan.Headers == nil {
		return t
	}
	switch {
	case r.Holds:
		t.Due.At = store.After(now.Ceil(), moments.DelayIn(scan.Headers))
	case !r.Schedules || m.Overlay != nil && (m.Overlay.Held || m.Overlay.Delayed != 0):
	default: // nothing is due if it cannot be made out
		t.Due, _ = moments.DueOf(scan.Headers, r.DeliverAt, now.Ceil(), r.Skew)
	}
	if t.Due.At > now.Floor() && len(scan.MessageID) > 0 {
		t.ID = store.HashID(scan.MessageID)
	}
	t.Expires, t.Dated = r.expiry(m.Overlay, scan.Headers)
	return t
}

// Expiry is when a message with that header expires by it.
func (r *Reader) Expiry(o *message.Overlay, header []byte) (at int64, ok bool) {
	if r.ExpiresAt == "" || o.Undated() {
		return 0, false
	}
	scan, err := protocol.ScanProperties(header)
	if err != nil || scan.Headers == nil {
		return 0, false
	}
	return r.expiry(o, scan.Headers)
}

func (r *Reader) expiry(o *message.Overlay, headers []byte) (at int64, ok bool) {
	if r.ExpiresAt == "" || o.Undated() {
		return 0, false
	}
	at, ok, _ = moments.ExpiryOf(headers, r.ExpiresAt, r.Skew)
	return at, ok
}

// Priority is the message's priority property; the queue knows it only up to its own highest one (DL-18).
func Priority(m *message.Message) uint8 {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil {
		return m.Priority
	}
	return scan.Priority
}

// MessageID is the property message-id in raw properties.
func MessageID(header []byte) string {
	scan, err := protocol.ScanProperties(header)
	if err != nil {
		return ""
	}
	return string(scan.MessageID)
}
