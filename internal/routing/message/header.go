package message

import (
	"slices"
	"strconv"
	"strings"

	"candlemark/protocol"
)

// Header returns the raw property list to send: the publisher's own if there is nothing to add, else a merged one with
// its headers sorted by name (DL-19).
func (o *Overlay) Header(raw []byte) ([]byte, error) {
	if o == nil || !o.DropExpiration && len(o.Deaths) == 0 && o.DeliveryCount == 0 && o.AcquiredCount == 0 && o.Delayed == 0 && o.EnqueuedAt == 0 && !o.amended() {
		return protocol.WithoutOriginal(raw), nil
	}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		return nil, err
	}
	if o.DropExpiration {
		p.Flags &^= protocol.FlagExpiration
	}
	if o.amended() {
		p.Headers = o.addTo(p.Headers)
		p.Flags |= protocol.FlagHeaders
	}
	if o.Delayed != 0 {
		p.Headers = p.Headers.Set("x-delay", -o.Delayed)
		p.Flags |= protocol.FlagHeaders
	}
	if o.Dead() {
		p.Headers = o.headers(p.Headers)
		p.Flags |= protocol.FlagHeaders
	}
	if o.DeliveryCount > 0 {
		p.Headers = p.Headers.Set("x-delivery-count", int64(o.DeliveryCount))
		p.Flags |= protocol.FlagHeaders
	}
	if o.AcquiredCount > 0 {
		p.Headers = p.Headers.Set("x-acquired-count", int64(o.AcquiredCount))
		p.Flags |= protocol.FlagHeaders
	}
	if o.EnqueuedAt != 0 {
		p.Headers = o.stamps(p.Headers)
		p.Flags |= protocol.FlagHeaders
	}
	return p.Append(make([]byte, 0, len(raw)+256)), nil
}

// Decode returns the properties of a message with that raw property list as they are sent (none if they cannot be
// read), its original (protocol.SplitOriginal), and the size of both in bytes.
func (o *Overlay) Decode(raw []byte) (p protocol.Properties, original []byte, size int) {
	if sent, err := o.Header(raw); err == nil {
		p, _ = protocol.DecodeProperties(sent)
		size = len(sent)
	}
	_, original = protocol.SplitOriginal(raw)
	return p, original, size + len(original)
}

// stamps adds times as ms in a long, since an AMQP timestamp has only seconds. They replace headers of a client with
// these names.
func (o *Overlay) stamps(headers protocol.Table) protocol.Table {
	headers = headers.Set("x-enqueued-at", o.EnqueuedAt)
	if o.ExpiresAt == 0 {
		return headers.Delete("x-expires-at")
	}
	return headers.Set("x-expires-at", o.ExpiresAt)
}

// deathCount is a header that other brokers do not have.
const deathCount = "x-death-count"

func (o *Overlay) headers(own protocol.Table) protocol.Table {
	out := make(protocol.Table, 0, len(own)+7)
	for _, f := range own {
		if !strings.HasPrefix(f.Key, "x-first-death-") && !strings.HasPrefix(f.Key, "x-last-death-") && f.Key != "x-death" &&
			(f.Key != deathCount || !o.AddDeathCount) {
			out = append(out, f)
		}
	}
	deaths := make(protocol.Array, len(o.Deaths))
	for i, d := range o.Deaths {
		deaths[i] = d.table()
	}
	out = append(out, protocol.Field{Key: "x-death", Value: deaths})
	if o.AddDeathCount {
		out = append(out, protocol.Field{Key: deathCount, Value: o.Deaths[0].Count})
	}
	out = append(out, o.First.fields("x-first-death-")...)
	out = append(out, o.Last.fields("x-last-death-")...)
	slices.SortStableFunc(out, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(out, func(a, b protocol.Field) bool { return a.Key == b.Key })
}

func (g Origin) fields(prefix string) protocol.Table {
	return protocol.Table{
		{Key: prefix + "exchange", Value: g.Exchange},
		{Key: prefix + "queue", Value: g.Queue},
		{Key: prefix + "reason", Value: g.Reason},
	}
}

// table returns the entry with its fields in the order of DL-20.
func (d Death) table() protocol.Table {
	keys := make(protocol.Array, len(d.RoutingKeys))
	for i, k := range d.RoutingKeys {
		keys[i] = k
	}
	t := make(protocol.Table, 0, 7)
	if d.OriginalExpiration != "" {
		t = append(t, protocol.Field{Key: "original-expiration", Value: d.OriginalExpiration})
	}
	return append(t,
		protocol.Field{Key: "count", Value: d.Count},
		protocol.Field{Key: "reason", Value: d.Reason},
		protocol.Field{Key: "queue", Value: d.Queue},
		protocol.Field{Key: "time", Value: protocol.Timestamp(d.Time)},
		protocol.Field{Key: "exchange", Value: d.Exchange},
		protocol.Field{Key: "routing-keys", Value: keys},
	)
}

// FormatTTL formats a TTL in ms for the expiration property; "" for NoTTL.
func FormatTTL(ms int64) string {
	if ms < 0 {
		return ""
	}
	return strconv.FormatInt(ms, 10)
}
