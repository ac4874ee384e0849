package deadletter

import (
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// stamped is the last death. Messages of one batch mostly died alike, and then
// share the overlay that tells of it.
type stamped struct {
	batch    *batch
	before   *message.Overlay
	exchange string
	key      string
	ttl      int64 // of the publisher
	overlay  *message.Overlay
}

func (d *stamped) alike(b *batch, m *message.Message, before *message.Overlay, ttl int64) bool {
	return d.batch == b && d.before == before && d.ttl == ttl &&
		d.exchange == string(m.Exchange) && d.key == string(m.RoutingKey)
}

// moved is the last overlay of a message that was moved on: mostly it has none.
type moved struct{ before, after *message.Overlay }

// stamp makes the copy that is published: it carries its death (DL-20) and no
// expiration (DL-17). It is valid until the next call.
func (s *state) stamp(b *batch, dead *message.Message) *message.Message {
	d := &s.router.last
	before := dead.Overlay
	if b.Continue && !before.Dead() {
		if before = message.History(dead.Header); before == nil {
			before = dead.Overlay
		} else if dead.Overlay != nil {
			before.CC, before.BCC, before.Delayed, before.Held = dead.Overlay.CC, dead.Overlay.BCC, dead.Overlay.Delayed, dead.Overlay.Held
			before.Hops = dead.Overlay.Hops
		}
	}
	if ttl := published(dead); !d.alike(b, dead, before, ttl) {
		*d = stamped{
			batch: b, before: before, exchange: string(dead.Exchange), key: string(dead.RoutingKey), ttl: ttl,
		}
		d.overlay = before.Died(message.Death{
			Queue: b.Queue, Reason: b.Reason, Exchange: d.exchange, RoutingKeys: dead.Overlay.Keys(d.key, false), Time: b.Time,
			OriginalExpiration: message.FormatTTL(d.ttl),
		})
		d.overlay.TellCount = b.Count
		if b.HasKey { // the only one from now on; CC stays in the headers (DL-16)
			d.overlay.CC, d.overlay.BCC = nil, nil
		}
	}
	m := &s.copy
	*m = *dead
	m.Own()
	m.Overlay = d.overlay
	m.TTL = message.NoTTL
	return m
}

// published is the TTL that the message's publisher gave it, NoTTL without one,
// or when an earlier death has taken it away: what exchanges have made of it is
// not told (DL-17).
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

// release makes the copy of a message that was held until now: with −x-delay, so
// that it is not held again, and all else as it came (DLY-4). It is valid until
// the next call.
func (s *state) release(held *message.Message) *message.Message {
	m := &s.copy
	*m = *held
	m.Own()
	m.Overlay = held.Overlay.Released(topology.DelayOf(held.Header))
	return m
}

// moveOn makes the copy of a message that a queue moves on, all as it came. It is
// valid until the next call.
func (s *state) moveOn(from *message.Message) *message.Message {
	r := &s.router
	if r.moved.after == nil || r.moved.before != from.Overlay {
		r.moved.before, r.moved.after = from.Overlay, from.Overlay.Moved()
	}
	m := &s.copy
	*m = *from
	m.Own()
	m.Overlay = r.moved.after
	return m
}
