package deliveries

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// receiving is an answer to ReceiveDeferred in progress.
type receiving struct {
	*Parts
	all     *Deliveries
	asked   *mail.ReceiveDeferred
	reply   *mail.ReceiveDeferredReply
	by      *consumers.Holder   // nil before the first message
	who     *consumers.Consumer // the consumer that has locked the session, if any
	session *string             // nil without a session
	want    []store.Ref         // contents to be read
	at      []int               // their indexes in the answer
}

// Receive delivers deferred messages by their numbers (DEFER-2).
func (d *Deliveries) Receive(m *mail.ReceiveDeferred, now clock.Instant) {
	x := &receiving{Parts: &d.Parts, all: d, asked: m, reply: &mail.ReceiveDeferredReply{Reply: m.Done(nil), Queue: d.Self}}
	if set := d.Messages.Sessions; set != nil {
		if x.session, x.who = set.Asked(m.Session, m.Link, m.Connection, now.Floor()); x.who == nil {
			x.reply.Err = mail.ErrSessionLost
			d.Out.Send(m.ReplyTo, x.reply)
			return
		}
	}
	bytes := int64(0)
	for i, seq := range m.Seqs {
		if len(x.reply.Deliveries) == mail.MaxClaimed || bytes >= mail.ClaimBytes {
			x.reply.Left = slices.Clone(m.Seqs[i:])
			break
		}
		if id, is := d.Messages.Sessions.Of(seq); x.who != nil && (!is || id != *x.session) {
			continue
		}
		if h, ok := d.Messages.Deferred.Find(seq); ok && d.Messages.Expiry.Retime(h) > now.Floor() {
			bytes += d.Messages.Backlog.Size(h)
			x.take(h, now)
		}
	}
	if len(x.want) == 0 {
		x.answer()
		return
	}
	d.Lookups.LookUp(m, x.want, x.found)
}

// take makes a message an unacked delivery to the channel. In a receive without acknowledgements it is removed at once,
// or when its content is read.
func (x *receiving) take(h backlog.Handle, now clock.Instant) {
	b, paged := &x.Messages.Backlog, x.Messages.Backlog.IsPaged(h)
	r := backlog.Record{}
	if paged {
		x.want = append(x.want, store.Ref{Seq: b.Seq(h), At: store.Position(b.Place(h))})
		x.at = append(x.at, len(x.reply.Deliveries))
	} else {
		b.Get(h, &r)
	}
	delivery := x.delivery(h, &r)
	switch {
	case !x.asked.NoAck:
		if x.by == nil {
			x.by = x.Owner.Open(x.asked.Channel)
		}
		x.all.takeDeferred(h)
		delivery.Number = x.all.hold(h, x.by, x.who, now)
		x.all.Lock(delivery.Facts, x.by, delivery.Number)
	case !paged:
		x.remove(h)
	}
	x.reply.Deliveries = append(x.reply.Deliveries, delivery)
}

func (x *receiving) remove(h backlog.Handle) {
	x.Messages.Deferred.Take(h)
	x.Messages.Remove(h, store.Acked)
}

// delivery returns the delivery of a message with its content.
func (x *receiving) delivery(h backlog.Handle, r *backlog.Record) mail.Delivery {
	set := x.Messages
	e := set.Backlog.Entry(h)
	r.Seq, r.Deadline, r.Returns, r.Redelivered = e.Seq, e.Deadline, e.Returns, e.Redelivered
	r.Enqueued, r.TTL = set.Backlog.Times(h)
	r.Priority = set.Backlog.Priority(h)
	var delivery mail.Delivery
	set.Style().Deliver(&delivery, r)
	delivery.Facts = set.Style().Facts(r)
	return delivery
}

// found adds contents that were read. Unreadable messages stay deferred.
func (x *receiving) found(contents []store.Content, now clock.Instant) {
	for i := range contents {
		delivery, c := &x.reply.Deliveries[x.at[i]], &contents[i]
		r, ok := content.Read(&c.Record)
		h, there := x.still(delivery, now)
		if !there || !ok || c.Err != nil {
			x.putBack(delivery, now)
			continue
		}
		x.Messages.Backlog.SetStored(h, c.Record.Kind == store.Put)
		r.Released = c.Record.Due != 0
		delivery.Message = x.delivery(h, &r).Message
		if x.asked.NoAck {
			x.remove(h)
		}
	}
	x.reply.Deliveries = slices.DeleteFunc(x.reply.Deliveries, func(y mail.Delivery) bool { return y.Facts == nil })
	x.answer()
}

// still returns the message of a delivery, if it can still be delivered.
func (x *receiving) still(d *mail.Delivery, now clock.Instant) (backlog.Handle, bool) {
	if x.asked.NoAck {
		h, ok := x.Messages.Deferred.Find(d.Facts.Seq)
		return h, ok && x.Messages.Expiry.Retime(h) > now.Floor()
	}
	u, ok := x.by.Unacked.Get(d.Number)
	return u.Message, ok
}

// putBack removes a delivery from the answer.
func (x *receiving) putBack(d *mail.Delivery, now clock.Instant) {
	if d.Facts = nil; x.by == nil {
		return
	}
	x.by.Unacked.TakeRange(d.Number, d.Number, func(_ uint64, u consumers.ChannelDelivery) {
		x.all.release(u)
		x.Messages.Unclaim(u.Message, now)
	})
}

// answer sends the answer.
func (x *receiving) answer() {
	counts := &x.Messages.Counts
	for i := range x.reply.Deliveries {
		if x.asked.NoAck {
			counts.GetNoAck++
		} else {
			counts.Get++
		}
		if x.reply.Deliveries[i].Redelivered {
			counts.Redeliver++
		}
	}
	x.Out.Send(x.asked.ReplyTo, x.reply)
}
