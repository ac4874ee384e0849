package republish

import (
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// stamped caches the last x-death. Messages of one batch usually have the same history, and then share an overlay.
type stamped struct {
	batch    *batch
	before   *message.Overlay
	exchange string
	key      string
	ttl      int64 // the TTL that the publisher set
	overlay  *message.Overlay
}

func (d *stamped) alike(b *batch, m *message.Message, before *message.Overlay, ttl int64) bool {
	return d.batch == b && d.before == before && d.ttl == ttl &&
		d.exchange == string(m.Exchange) && d.key == string(m.RoutingKey)
}

// moved caches the last overlay of a forwarded message; it is usually nil.
type moved struct{ before, after *message.Overlay }

// stamp adds x-death to a message (DL-20) and removes its expiration (DL-17).
func (s *state) stamp(b *batch, m *message.Message) {
	d := &s.router.last
	before := m.Overlay
	if b.Continue && !before.Dead() {
		if history := message.History(m.Header); history != nil {
			before = m.Overlay.After(history)
		}
	}
	if ttl := published(m); !d.alike(b, m, before, ttl) {
		*d = stamped{
			batch: b, before: before, exchange: string(m.Exchange), key: string(m.RoutingKey), ttl: ttl,
		}
		d.overlay = before.Died(message.Death{
			Queue: b.Queue, Reason: b.Reason, Exchange: d.exchange, RoutingKeys: m.Overlay.Keys(d.key, false), Time: b.Time,
			OriginalExpiration: message.FormatTTL(d.ttl),
		})
		d.overlay.AddDeathCount = b.Count
		if b.HasKey { // from now on the only key; CC stays in the headers (DL-16)
			d.overlay.CC, d.overlay.BCC = nil, nil
		}
	}
	m.Overlay = d.overlay
	m.TTL = message.NoTTL
	if b.Reason == rejected { // as if it were published
		m.Spread = 0
	}
}

// published returns the TTL that the publisher set, NoTTL if there is none or it was removed by an earlier
// dead-lettering; limits set by exchanges are not reported (DL-17).
func published(dead *message.Message) int64 {
	if dead.TTL < 0 || dead.Overlay.Undated() {
		return message.NoTTL
	}
	scan, err := protocol.ScanProperties(dead.Header)
	if err != nil || !scan.HasExpiration {
		return message.NoTTL
	}
	ttl, err := message.ParseTTL(scan.Expiration)
	if err != nil {
		return message.NoTTL
	}
	return ttl
}

// moveOn counts another forwarding of a message.
func (s *state) moveOn(m *message.Message) {
	r := &s.router
	if r.moved.after == nil || r.moved.before != m.Overlay {
		r.moved.before, r.moved.after = m.Overlay, m.Overlay.Moved()
	}
	m.Overlay = r.moved.after
}
