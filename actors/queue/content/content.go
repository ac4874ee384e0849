package content

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
)

// largeBody is the size in bytes from which a body is kept by reference, not copied.
const largeBody = 8 << 10

// Keep fills a zero record of the backlog with a message that was enqueued at now and expires at deadline, both wall
// ms. priority is its priority in the queue; stored: it survives a restart.
func Keep(r *backlog.Record, m *message.Message, seq uint64, deadline, now int64, priority uint8, stored bool) {
	r.Exchange, r.RoutingKey, r.Header, r.Body, r.Overlay = m.Exchange, m.RoutingKey, m.Header, m.Body, m.Overlay
	r.Deadline, r.TTL, r.Enqueued, r.Priority = deadline, m.TTL, now, priority
	r.Stored, r.Seq, r.Shared, r.Share, r.Spread = stored, seq, m.Owned, m.Share, m.Spread
}

// Recovered returns the backlog's record of a message from the journal. priority is its priority in the queue.
func Recovered(m *store.Recovered, priority uint8) backlog.Record {
	return backlog.Record{
		Deadline: m.Deadline, TTL: m.TTL, Enqueued: m.Time, Seq: m.Seq, Returns: m.Returns,
		Priority: priority, Redelivered: m.Redelivered, Stored: true,
	}
}

// Message converts a stored message for other actors: its bytes are in the backlog's slab, which is never
// overwritten.
func Message(r *backlog.Record) (m message.Message) {
	show(&m, r)
	return m
}

// show is Message into a zero message.
func show(m *message.Message, r *backlog.Record) {
	m.Exchange, m.RoutingKey, m.Header, m.Body, m.Overlay = r.Exchange, r.RoutingKey, r.Header, r.Body, Overlay(r)
	m.TTL, m.Priority, m.Owned, m.Share, m.Spread = r.TTL, r.Priority, true, r.Share, r.Spread
}

// Overlay returns the headers that the broker adds to a stored message, nil for none.
func Overlay(r *backlog.Record) *message.Overlay {
	if r.Released {
		return r.Overlay.Released(timeheaders.DelayOf(r.Header))
	}
	return r.Overlay
}

// Stored returns the overlay with which a message is written to the journal: it includes the message's spread, if that
// matters.
func Stored(r *backlog.Record) *message.Overlay {
	o := Overlay(r)
	if r.Spread > message.FreeSpread && (o == nil || !o.Copied) {
		return o.WithCopies(message.CopiesOf(r.Spread))
	}
	return o
}

// Read converts a content that was read from the journal; false if it is corrupt.
func Read(r *store.Record) (backlog.Record, bool) {
	overlay, err := message.DecodeOverlay(r.Overlay)
	return backlog.Record{
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body, Overlay: overlay,
		Shared: len(r.Body) >= largeBody,
	}, err == nil
}

// PageIn stores a content that was read for a message of b; false if it is corrupt.
func PageIn(b *backlog.Backlog, h backlog.Handle, r *store.Record) bool {
	content, ok := Read(r)
	if !ok || int64(len(r.Body)) != b.Size(h) {
		return false
	}
	b.PageIn(h, &content)
	b.SetStored(h, r.Kind == store.Put)
	return true
}

// CountDead adds to a dead letter the number of its failed deliveries, including the last one if it was rejected (DL-9).
func CountDead(m *message.Message, returns message.Returns, rejected bool) {
	failed := returns.Failed()
	if failed > 0 {
		m.Overlay = m.Overlay.Counted(returns) // kept as DiedAfter of its death
	}
	if rejected {
		failed++
	}
	m.Overlay = m.Overlay.Failing(failed)
}

// Style is how a queue presents its messages to consumers.
type Style struct {
	Counts bool // with the headers x-delivery-count and x-acquired-count, as quorum queues do, and queues with delayed retries; otherwise only clients of AMQP 1.0 see the count (DL-9)
	Stamps bool // with the times of enqueueing and expiry
	Dates  clock.Dates
}

// Deliver fills a delivery, zero except for its number, with a stored message as a consumer gets it.
func (s Style) Deliver(d *mail.Delivery, r *backlog.Record) {
	d.Redelivered = r.Redelivered
	show(&d.Message, r)
	switch {
	case r.Returns == 0:
	case s.Counts:
		d.Message.Overlay = d.Message.Overlay.Counted(r.Returns)
	default:
		d.Message.Overlay = d.Message.Overlay.Failing(r.Returns.Failed())
	}
	d.Message.Overlay = s.Stamp(d.Message.Overlay, r.Enqueued, r.Deadline)
}

// Facts returns the Facts of a stored message that is about to be delivered.
func (s Style) Facts(r *backlog.Record) *mail.Facts {
	f := &mail.Facts{Seq: r.Seq, Enqueued: s.Dates.Date(r.Enqueued), DeliveryCount: r.Returns.Failed()}
	if r.Deadline > 0 && r.Deadline != store.Never {
		f.Expires = s.Dates.Date(r.Deadline)
	}
	return f
}

// Stamp adds the times of enqueueing and expiry, in ms of the broker's time, if Stamps is set.
func (s Style) Stamp(o *message.Overlay, enqueued, deadline int64) *message.Overlay {
	if !s.Stamps {
		return o
	}
	expires := int64(0)
	if deadline > 0 && deadline != store.Never {
		expires = s.Dates.Date(deadline)
	}
	return o.Stamped(s.Dates.Date(enqueued), expires)
}
