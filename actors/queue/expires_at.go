package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Moments of the wall clock: those that publishers name in a header, and those that
// consumers are told. The core goes by the broker's time (ADR 19).

// applyExpiresAt lowers the TTL of a message to what its header expires-at-header leaves it,
// and reports whether that moment has passed: then it is not even delivered now. A
// dead letter has no deadline of its publisher's any more (DL-17).
func (s *state) applyExpiresAt(m *message.Message, now clock.Instant) (over bool) {
	if m.Overlay.Undated() {
		return false
	}
	at, ok := s.expiresAtOf(m)
	if !ok {
		return false
	}
	left := at - now.Ceil()
	m.Cap(max(left, 0))
	return left <= 0
}

// expiresAtOf is the moment at which a message expires by its header. One that cannot
// be made out is none: the publisher was told, if it came from one.
func (s *state) expiresAtOf(m *message.Message) (at int64, ok bool) {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil || scan.Headers == nil {
		return 0, false
	}
	at, ok, _ = topology.ExpiryOf(scan.Headers, s.settings.ExpiresAtHeader, s.skew)
	return at, ok
}

// expiredByHeader reports whether the moment at which a message expires by its header has
// passed, of one whose content is in memory.
func (s *state) expiredByHeader(h backlog.Handle, now clock.Instant) bool {
	if s.settings.ExpiresAtHeader == "" || s.messages.IsPaged(h) {
		return false
	}
	r := s.messages.Get(h)
	if r.Overlay.Undated() {
		return false
	}
	m := content(&r)
	at, ok := s.expiresAtOf(&m)
	return ok && at <= now.Floor()
}

// stamp tells when a message was enqueued and when it expires.
func (s *state) stamp(o *message.Overlay, enqueued, deadline int64) *message.Overlay {
	expires := int64(0)
	if deadline > 0 && deadline != store.Never {
		expires = deadline + s.skew
	}
	return o.Stamped(enqueued+s.skew, expires)
}
