package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// Owner is the queue. Open returns the record of a channel that holds deliveries.
type Owner interface {
	Open(channel mail.Address) *consumers.Holder
}

// Parts are the parts of a queue that its deliveries use.
type Parts struct {
	Name      string // of the queue
	Arguments protocol.Table
	Self      mail.Address
	Messages  *messages.Messages
	Consumers *consumers.Consumers
	Pending   *Pending
	Limit     *uint16 // limit of messages per turn
	Out       *mail.Posts
	Owner     Owner
	Lookups   *Lookups
}

// Deliveries are the unacked deliveries of a queue. See New.
type Deliveries struct {
	Parts
	// Timeouts is nil until the first timeout.
	Timeouts *Timeouts
	prepared map[backlog.Handle]int64 // deadlines, in ms, of deliveries that transactions are about to settle, 0 for none
	unowned  map[backlog.Handle]unowned
}

// New returns the empty Deliveries of a queue.
func New(p Parts) Deliveries { return Deliveries{Parts: p} }

// Take makes a ready message an unacked delivery to a channel, for consumer unless that is nil, and returns the
// delivery's number.
func (d *Deliveries) Take(h backlog.Handle, by *consumers.Holder, consumer *consumers.Consumer, now clock.Instant) (number uint64) {
	d.Messages.Backlog.Take(h)
	return d.hold(h, by, consumer, now)
}

// hold does the same as Take for a message that is not ready.
func (d *Deliveries) hold(h backlog.Handle, by *consumers.Holder, consumer *consumers.Consumer, now clock.Instant) (number uint64) {
	set := d.Messages
	if e := set.Backlog.Entry(h); !e.Redelivered {
		set.Journal.Note(store.Delivered, e)
	}
	number = d.Consumers.Hold(by, consumers.ChannelDelivery{Message: h, Since: consumers.MomentOf(set.Journal.At), Consumer: consumer})
	if consumer == nil || !consumer.Session { // otherwise the session's lock applies
		d.startTimeout(h, by, number, consumer, now)
	}
	return number
}

// Lock adds the lock of an unacked delivery to its facts.
func (d *Deliveries) Lock(f *mail.Facts, by *consumers.Holder, number uint64) {
	taken, _ := by.Unacked.Get(number)
	u := consumers.Unsettled{ChannelDelivery: taken, Channel: by, Number: number}
	f.Lock = u.Lock()
	if until := max(d.Timeouts.Until(taken.Message), d.Messages.Sessions.Until(taken.Consumer)); until != 0 {
		f.Locked = d.Messages.Dates.Date(until)
	}
}

// startTimeout sets the deadline of a delivery.
func (d *Deliveries) startTimeout(h backlog.Handle, to *consumers.Holder, number uint64, consumer *consumers.Consumer, now clock.Instant) {
	timeout := d.lockTime(h, consumer)
	if timeout < 0 {
		return
	}
	if d.Timeouts == nil {
		d.Timeouts = NewTimeouts(&d.Messages.Backlog)
	}
	d.Timeouts.Start(h, to, number, store.After(now.Ceil(), timeout), now.Floor())
}

// Expire requeues deliveries that were not settled in time, up to a turn's limit, and calls cancel for their consumers,
// except consumers that stay (LOCK-4). Consumers with link credit are stopped instead, and cancelled by their channel
// (LOCK-9). It reports whether others may be left.
func (d *Deliveries) Expire(now clock.Instant, cancel func(*consumers.Consumer)) (more bool) {
	var ended []*consumers.Consumer
	returned := map[*consumers.Holder]*mail.DeliveriesRequeued{}
	more = d.Timeouts.Advance(now.Floor(), messages.TurnLimit, func(channel *consumers.Holder, number uint64) {
		d.Messages.Counts.TimedOut++
		m := returned[channel]
		if m == nil {
			m = &mail.DeliveriesRequeued{Queue: d.Self, Name: d.Name}
			returned[channel] = m
			d.Out.Send(channel.Address, m)
		}
		switch c := d.RequeueOne(channel, number, m, now).Consumer; {
		case c == nil || c.Gone() || c.KeepsOnTimeout || c.Stopped():
		case c.Credited:
			d.Consumers.Stop(c)
			ended = append(ended, c)
		default:
			cancel(c)
			ended = append(ended, c)
		}
	})
	for _, c := range ended { // after the deliveries that they lost
		var end any = &mail.ConsumerCancelled{Queue: d.Self, Tag: c.Tag}
		if c.Stopped() {
			end = &mail.ConsumerTimedOut{Queue: d.Self, Tag: c.Tag}
		}
		d.Out.Send(c.Channel.Address, end)
	}
	return more
}

// RequeueOne requeues a delivery that its channel holds, and adds it to m, the mail to the channel.
func (d *Deliveries) RequeueOne(channel *consumers.Holder, number uint64, m *mail.DeliveriesRequeued, now clock.Instant) consumers.ChannelDelivery {
	u, _ := channel.Unacked.Take(number)
	m.Add(number)
	d.processed(channel, u)
	d.requeue(u.Message, 0, now)
	return u
}

// processed is release for a delivery that is settled or returned: it counts how long the consumer had it (AGE-3). Moves
// process no messages.
func (d *Deliveries) processed(by *consumers.Holder, u consumers.ChannelDelivery) {
	if !by.Claims {
		d.Messages.Ages.Processed(u.Since.Ago(d.Messages.Journal.At))
	}
	d.release(u)
}

// release frees the prefetch used by a delivery.
func (d *Deliveries) release(u consumers.ChannelDelivery) {
	delete(d.prepared, u.Message)
	d.Timeouts.Stop(u.Message)
	d.forgetUnowned(u.Message)
	d.Consumers.Release(u)
}

// Abandon takes deliveries from their channels, some in each turn, and calls end for their messages. It leaves
// deliveries that a move holds or a transaction is about to settle. It reports whether others may remain.
func (d *Deliveries) Abandon(end func(backlog.Handle)) (more bool) {
	left := int(*d.Limit)
	d.Consumers.Channels(func(h *consumers.Holder) {
		if h.Claims || left <= 0 {
			return
		}
		var numbers []uint64
		h.Unacked.Some(1, left, func(n uint64, u consumers.ChannelDelivery) {
			if !d.IsPrepared(u.Message) {
				numbers = append(numbers, n)
			}
		})
		for _, n := range numbers {
			u, _ := h.Unacked.Take(n)
			d.release(u)
			end(u.Message)
		}
		left -= len(numbers)
	})
	return left <= 0
}
