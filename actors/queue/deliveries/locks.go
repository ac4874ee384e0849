package deliveries

import (
	"candlemark/actors/queue/consumers"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// Renew restarts the time of locks.
func (d *Deliveries) Renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.RenewLockReply{Reply: m.Done(nil)}
	want := setOf(m.Locks)
	if len(want) > 0 {
		reply.Until = make(map[mail.Lock]int64, len(want))
	}
	one := func(u consumers.Unsettled, now clock.Instant) {
		if until := d.until(u.Message); until != 0 && until <= now.Floor() {
			return // expired, but the timer is late; or held by a transaction
		}
		if u.Consumer != nil && u.Consumer.Session { // its session is locked instead
			return
		}
		reply.Count++
		until := d.extend(u.Message, now.Ceil(), d.lockTime(u.Message, u.Consumer))
		if until != 0 {
			until = d.Messages.Dates.Date(until)
		}
		if until != 0 && (reply.Locked == 0 || until < reply.Locked) {
			reply.Locked = until
		}
		if reply.Until != nil {
			reply.Until[d.lockOf(&u)] = until
		}
	}
	if m.Seq == 0 && len(want) == 0 && m.Number != 0 {
		if h := d.Consumers.Channel(m.Channel); h != nil {
			if u, ok := h.Unacked.Get(m.Number); ok {
				one(consumers.Unsettled{ChannelDelivery: u, Channel: h, Number: m.Number}, now)
			}
		}
		d.Out.Send(m.ReplyTo, reply)
		return
	}
	meant := func(u consumers.Unsettled) bool { return u.Consumer != nil && u.Consumer.Tag == m.Tag }
	limit := 0
	switch {
	case len(want) > 0:
		limit, meant = len(want), func(u consumers.Unsettled) bool { return want[d.lockOf(&u)] }
	case m.Seq != 0:
		limit, meant = 1, func(u consumers.Unsettled) bool { return d.Messages.Backlog.Entry(u.Message).Seq == m.Seq }
	}
	all := d.Consumers.Scan(int(*d.Limit))
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if meant(u) {
					one(u, now)
				}
			}) || limit > 0 && reply.Count >= limit
		},
		End: func(clock.Instant) { d.Out.Send(m.ReplyTo, reply) },
	}, now)
}

// lockOf returns the lock of a delivery.
func (d *Deliveries) lockOf(u *consumers.Unsettled) mail.Lock {
	lock := mail.Lock{Seq: d.Messages.Backlog.Entry(u.Message).Seq}
	if kept, is := d.unowned[u.Message]; is {
		lock.Lock = kept.lock
	} else {
		lock.Lock = u.Lock()
	}
	return lock
}

// RequeueOnRequest requeues a delivery.
func (d *Deliveries) RequeueOnRequest(m *mail.ReturnDelivery, now clock.Instant) {
	var held consumers.Unsettled
	all := d.Consumers.Scan(int(*d.Limit))
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if d.Messages.Backlog.Entry(u.Message).Seq == m.Seq && !u.Channel.Claims && !d.IsPrepared(u.Message) { // a move settles its deliveries at once
					held = u
				}
			}) || held.Channel != nil
		},
		End: func(now clock.Instant) {
			if held.Channel != nil {
				returned := &mail.DeliveriesRequeued{Queue: d.Self, Name: d.Name, Asked: true}
				d.RequeueOne(held.Channel, held.Number, returned, now)
				d.Out.Send(held.Channel.Address, returned)
			}
			d.Out.Send(m.ReplyTo, &mail.ReturnDeliveryReply{Reply: m.Done(nil), Found: held.Channel != nil})
		},
	}, now)
}
