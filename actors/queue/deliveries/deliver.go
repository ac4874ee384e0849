package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Source decides which message a consumer gets.
type Source interface {
	// First returns the consumer for a message with the given charge that arrives now, if no other is ready; nil for none.
	First(charge int) *consumers.Consumer
	// Of returns the next message for a consumer. If it returns false, the consumer is passed over.
	Of(c *consumers.Consumer, now clock.Instant) (backlog.Handle, bool)
	// Ready reports whether the content of the message returned by Of is in memory. Otherwise it requests it, and reports
	// whether other consumers can get messages before that.
	Ready(c *consumers.Consumer, h backlog.Handle, now clock.Instant) (is, others bool)
}

// Dispatch delivers ready messages to consumers in turn until there are no more of either. It never delivers a message
// past its deadline, even if the timer is late (TTL-17). It reports whether it stopped at the limit of a turn.
func (d *Deliveries) Dispatch(from Source, now clock.Instant) (more bool) {
	set := d.Messages
	for died, n := 0, 0; set.Backlog.Ready() > 0; n++ {
		c := d.Consumers.Next()
		if c == nil {
			break
		}
		if n == int(*d.Limit) {
			more = true
			break
		}
		h, ok := from.Of(c, now)
		if !ok {
			continue
		}
		if set.Expiry.Retime(h) <= now.Floor() {
			if died++; died > messages.TurnLimit {
				more = true
				break
			}
			set.Expiry.Remove(h)
			set.Expire(h, now)
			continue
		}
		if !d.Consumers.Admits(c, mail.ChargeOf(int(set.Backlog.Size(h)))) {
			continue
		}
		if is, others := from.Ready(c, h, now); !is && others {
			continue
		} else if !is {
			break
		}
		set.Expiry.Remove(h)
		d.Deliver(c, h, now)
	}
	d.Consumers.Offer(set.Backlog.Ready())
	d.Consumers.AnswerCredit(set.Backlog.Ready())
	return more
}

// Deliver delivers a ready message to c and advances to the next consumer.
func (d *Deliveries) Deliver(c *consumers.Consumer, h backlog.Handle, now clock.Instant) {
	set := d.Messages
	var r backlog.Record
	set.Backlog.Get(h, &r)
	d.began(&r, now)
	set.Pager.Took(len(r.Body))
	var number uint64
	var facts *mail.Facts
	if c.WantsFacts {
		facts = set.Style().Facts(&r)
	}
	if c.NoAck {
		set.Remove(h, store.Acked)
	} else {
		number = d.Take(h, c.Channel, c, now)
		if c.WantsFacts {
			d.Lock(facts, c.Channel, number)
		}
	}
	_, to := d.Consumers.Deliver(c, len(r.Body), mail.ChargeOf(len(r.Exchange)+len(r.RoutingKey)+len(r.Header)+len(r.Body)))
	to.Number, to.Facts = number, facts
	set.Style().Deliver(to, &r)
}

// began counts a delivery.
func (d *Deliveries) began(r *backlog.Record, now clock.Instant) {
	if r.Redelivered {
		d.Messages.Counts.Redeliver++
	} else {
		d.Messages.Ages.Waited(now.Ceil() - r.Enqueued)
	}
}

// DeliverDirect delivers a new message to a consumer without acknowledgements; the message never enters the backlog.
func (d *Deliveries) DeliverDirect(c *consumers.Consumer, m *message.Message, chunk *message.Chunk, deadline int64, now clock.Instant) {
	set := d.Messages
	all, to := d.Consumers.Deliver(c, len(m.Body), mail.ChargeOf(m.Size()))
	to.Message = *m
	set.Ages.Waited(0)
	if set.Settings.StampExpiry {
		to.Message.Overlay = set.Style().Stamp(m.Overlay, now.Ceil(), deadline)
	}
	if c.WantsFacts {
		set.Seq++
		to.Facts = set.Style().Facts(&backlog.Record{Seq: set.Seq, Enqueued: now.Ceil(), Deadline: deadline})
	}
	if all.Chunk == nil && !m.Owned {
		chunk.Retain()
		all.Chunk = chunk
	}
}

// Fetch puts a ready message into the reply to m.
func (d *Deliveries) Fetch(h backlog.Handle, m *mail.Get, reply *mail.GetReply, now clock.Instant) {
	set := d.Messages
	var r backlog.Record
	set.Backlog.Get(h, &r)
	reply.Empty, reply.Delivery = false, mail.Delivery{}
	set.Style().Deliver(&reply.Delivery, &r)
	m.Unread.Take(int64(reply.Delivery.Charge()))
	d.began(&r, now)
	if m.Facts {
		reply.Delivery.Facts = set.Style().Facts(&r)
	}
	if m.NoAck {
		set.Counts.GetNoAck++
		set.Remove(h, store.Acked)
		return
	}
	set.Counts.Get++
	to := d.Owner.Open(m.Channel)
	reply.Delivery.Number = d.Take(h, to, nil, now)
	if m.Facts {
		d.Lock(reply.Delivery.Facts, to, reply.Delivery.Number)
	}
}
