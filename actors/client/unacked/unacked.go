package unacked

import (
	"candlemark/actors/client/qos"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/seqmap"

	"github.com/rs/zerolog"
)

// Queue is a queue that delivers to the channel.
type Queue struct {
	qos.Queue
	Gone   bool         // it has ended and gets no settlements
	settle *mail.Settle // collected in this turn
}

// Unacked is an unacked delivery.
type Unacked struct {
	queue  *Queue
	number uint64 // the queue's number of the delivery
	got    bool   // of basic.get, which does not count towards the limit
	late   bool   // requeued by its queue; does not count either
}

// Of returns the queue of the delivery, and its number there.
func (u Unacked) Of() (q *Queue, number uint64) { return u.queue, u.number }

// Late reports whether its queue has requeued it.
func (u Unacked) Late() bool { return u.late }

// Deliveries are the unacked deliveries of a channel. They are created by New.
type Deliveries struct {
	Limit    qos.Limit // common limit of the consumers
	out      qos.Sender
	byTag    seqmap.Map[Unacked]
	late     int
	acked    uint64
	settling []*Queue
}

// New returns the Deliveries of a new channel.
func New(out qos.Sender) Deliveries { return Deliveries{out: out, Limit: qos.New(out)} }

// Clear removes all deliveries and the limit, but keeps the counters.
func (d *Deliveries) Clear() {
	acked := d.acked
	*d = New(d.out)
	d.acked = acked
}

// Tag adds a delivery and returns its tag. number is the queue's, 0 if it expects no acknowledgement; got is set for
// basic.get.
func (d *Deliveries) Tag(q *Queue, number uint64, got bool) uint64 {
	if number == 0 {
		return d.byTag.Skip()
	}
	if !got {
		d.Limit.Delivered(&q.Queue)
	}
	return d.byTag.Append(Unacked{queue: q, number: number, got: got})
}

// Range returns the tags to which a method applies; tag 0 with multiple means all. ok is false for a tag without a
// delivery (DEC-15).
func (d *Deliveries) Range(tag uint64, multiple bool) (first, last uint64, ok bool) {
	first, last = tag, tag
	if multiple {
		first = 1
	}
	if multiple && tag == 0 {
		return first, d.byTag.Last(), true
	}
	_, ok = d.byTag.Get(tag)
	return first, last, ok
}

// Take removes the deliveries of a range and calls f for each in order.
func (d *Deliveries) Take(first, last uint64, f func(tag uint64, u Unacked)) {
	d.byTag.TakeRange(first, last, f)
}

// Restore puts a removed delivery back.
func (d *Deliveries) Restore(tag uint64, u Unacked) { d.byTag.Restore(tag, u) }

// SettleRange settles the deliveries of a range.
func (d *Deliveries) SettleRange(first, last uint64, how mail.Settlement) {
	d.SettleWith(first, last, how, nil)
}

// SettleWith does the same as SettleRange with amendments to the messages, nil for none.
func (d *Deliveries) SettleWith(first, last uint64, how mail.Settlement, outcome *mail.Outcome) {
	d.byTag.TakeRange(first, last, func(_ uint64, u Unacked) { d.settle(u, how, outcome) })
}

// Last returns the newest tag, 0 before the first.
func (d *Deliveries) Last() uint64 { return d.byTag.Last() }

// Settle adds a removed delivery to the settlements for Flush, with amendments to the message, nil for none.
func (d *Deliveries) Settle(u Unacked, how mail.Settlement, outcome *mail.Outcome) {
	d.settle(u, how, outcome)
}

// SettleDurably does the same as Settle, and has the queue answer with a SettleReply when its journal has the settlement
// (DUR-3). It reports whether that is a further answer: the settlements of one Flush share one, and a queue that has
// ended sends none.
func (d *Deliveries) SettleDurably(u Unacked, how mail.Settlement, outcome *mail.Outcome, request func() mail.Request) (answer bool) {
	d.settle(u, how, outcome)
	m := u.queue.settle
	if m == nil || m.Durable {
		return false
	}
	r := request()
	m.Asked, m.Durable = &r, true
	return true
}

// Account counts a removed delivery as settled, and returns its queue, which is not informed, and its number there.
func (d *Deliveries) Account(u Unacked, how mail.Settlement) (q *Queue, number uint64) {
	if !u.got {
		d.Limit.Settled()
	}
	if u.late {
		d.late--
	}
	if how == mail.Ack {
		d.acked++
	}
	return u.queue, u.number
}

// Keep puts a delivery back that was removed and accounted for with another settlement than Ack.
func (d *Deliveries) Keep(tag uint64, u Unacked) {
	if !u.got {
		d.Limit.Delivered(&u.queue.Queue)
	}
	if u.late {
		d.late++
	}
	d.byTag.Restore(tag, u)
}

func (d *Deliveries) settle(u Unacked, how mail.Settlement, outcome *mail.Outcome) {
	q, number := d.Account(u, how)
	if q.Gone {
		return // the message ended with its queue; settling it is not an error (LEASE-6)
	}
	if q.settle == nil {
		q.settle = &mail.Settle{Channel: d.out.Self()}
		d.settling = append(d.settling, q)
	}
	ranges := q.settle.Ranges
	if k := len(ranges); k > 0 && ranges[k-1].How == how && ranges[k-1].Outcome == outcome && ranges[k-1].Last+1 == number {
		ranges[k-1].Last = number
		return
	}
	q.settle.Ranges = append(ranges, mail.SettleRange{First: number, Last: number, How: how, Outcome: outcome})
}

// Flush sends the settlements to queues.
func (d *Deliveries) Flush() {
	for i, q := range d.settling {
		d.out.Send(q.Address, q.settle)
		q.settle = nil
		d.settling[i] = nil
	}
	d.settling = d.settling[:0]
}

// covered returns the tags of the deliveries in m.
func (d *Deliveries) covered(q *Queue, m *mail.DeliveriesRequeued) (tags []uint64) {
	d.byTag.Each(func(tag uint64, u Unacked) bool {
		if u.queue == q && m.Covers(u.number) {
			tags = append(tags, tag)
		}
		return true
	})
	return tags
}

// Forget removes deliveries that another actor has settled, and returns their tags.
func (d *Deliveries) Forget(q *Queue, m *mail.DeliveriesRequeued) (tags []uint64) {
	tags = d.covered(q, m)
	for _, tag := range tags {
		u, _ := d.byTag.Take(tag)
		d.Account(u, mail.Requeue) // only the other settlement counts
	}
	return tags
}

// Return marks the deliveries that a queue has requeued as late.
func (d *Deliveries) Return(q *Queue, m *mail.DeliveriesRequeued) {
	for _, tag := range d.covered(q, m) {
		u, _ := d.byTag.Take(tag)
		d.ReturnTaken(&u, q, m)
		d.byTag.Restore(tag, u)
	}
}

// ReturnTaken does the same as Return for a removed delivery that may be restored.
func (d *Deliveries) ReturnTaken(u *Unacked, q *Queue, m *mail.DeliveriesRequeued) {
	if u.queue != q || !m.Covers(u.number) {
		return
	}
	if !u.got {
		d.Limit.Settled()
	}
	d.late++
	u.got, u.late = true, true
}

// LateLimit is how many late deliveries a client may leave unsettled: they stay recorded, so a client that never settles would use
// ever more memory.
const LateLimit = 100_000

// LogRequeued logs deliveries that a queue has requeued because they were not settled in time; what the client has failed to do is
// named by missing. Deliveries that were requeued on request are logged elsewhere.
func LogRequeued(log *zerolog.Logger, m *mail.DeliveriesRequeued, missing string) {
	if !m.Asked {
		log.Warn().Str("queue", m.Name).Any("deliveries", m.Numbers).Msgf("deliveries were not %s in time and were requeued", missing)
	}
}

// Late returns the number of late deliveries, including removed ones.
func (d *Deliveries) Late() int { return d.late }

// Len returns the number of deliveries, including late ones.
func (d *Deliveries) Len() int { return d.byTag.Len() }

// Acked returns the number of acknowledged deliveries.
func (d *Deliveries) Acked() uint64 { return d.acked }

// Find returns the tags of deliveries or the delivery with a tag. It changes nothing.
func (d *Deliveries) Find(m *mail.FindDeliveries) *mail.DeliveriesFound {
	found := &mail.DeliveriesFound{Reply: m.Done(nil), Queue: m.Queue, Tags: map[uint64]uint64{}}
	if m.Tag != 0 {
		if u, ok := d.byTag.Get(m.Tag); ok && !u.queue.Gone {
			found.Queue, found.Tags[u.number] = u.queue.Address, m.Tag
		}
		return found
	}
	wanted := make(map[uint64]bool, len(m.Numbers))
	for _, n := range m.Numbers {
		wanted[n] = true
	}
	d.byTag.Each(func(tag uint64, u Unacked) bool {
		if wanted[u.number] && u.queue.Address.GetId() == m.Queue.GetId() {
			found.Tags[u.number] = tag
		}
		return true
	})
	return found
}
