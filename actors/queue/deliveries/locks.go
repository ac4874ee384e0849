package deliveries

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// Renew gives locks their time anew.
func (d *Deliveries) Renew(m *mail.RenewLock, now clock.Instant) {
	reply := &mail.LockRenewed{Reply: m.Done(nil)}
	one := func(u consumers.Unsettled, now clock.Instant) {
		if until := d.Timeouts.Until(u.Message); until != 0 && until <= now.Floor() {
			return // over, though the timer has yet to say so
		}
		if u.Consumer != nil && u.Consumer.Session { // it has the lock of its session
			return
		}
		reply.Count++
		own := int64(-1)
		if u.Consumer != nil {
			own = u.Consumer.Timeout
		}
		if until := d.Timeouts.Extend(u.Message, now.Ceil(), policies.LowerTimeout(d.Messages.Settings.ConsumerTimeout, own)); until != 0 && (reply.Locked == 0 || until+d.Messages.Skew < reply.Locked) {
			reply.Locked = until + d.Messages.Skew
		}
	}
	if m.Seq == 0 && m.Number != 0 {
		if h := d.Consumers.Channel(m.Channel); h != nil {
			if u, ok := h.Unacked.Get(m.Number); ok {
				one(consumers.Unsettled{Delivery: u, Channel: h, Number: m.Number}, now)
			}
		}
		d.Out.Send(m.ReplyTo, reply)
		return
	}
	meant := func(u consumers.Unsettled) bool { return u.Consumer != nil && u.Consumer.Tag == m.Tag }
	if m.Seq != 0 {
		meant = func(u consumers.Unsettled) bool {
			return d.Messages.Backlog.Entry(u.Message).Seq == m.Seq && (m.Lock == 0 || u.Lock() == m.Lock)
		}
	}
	all := d.Consumers.Scan(int(*d.Most))
	d.Pending.Start(&work.Work{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if meant(u) {
					one(u, now)
				}
			}) || m.Seq != 0 && reply.Count > 0
		},
		End: func(clock.Instant) { d.Out.Send(m.ReplyTo, reply) },
	}, now)
}

// Return takes one back from who holds it.
func (d *Deliveries) Return(m *mail.ReturnDelivery, now clock.Instant) {
	var held consumers.Unsettled
	all := d.Consumers.Scan(int(*d.Most))
	d.Pending.Start(&work.Work{
		Expires: true, Asked: m,
		Step: func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if d.Messages.Backlog.Entry(u.Message).Seq == m.Seq && !u.Channel.Claims && !d.IsPrepared(u.Message) { // a move settles its own at once
					held = u
				}
			}) || held.Channel != nil
		},
		End: func(now clock.Instant) {
			if held.Channel != nil {
				told := &mail.DeliveriesReturned{Queue: d.Self, Name: d.Name, Asked: true}
				d.TakeBack(held.Channel, held.Number, told, now)
				d.Out.Send(held.Channel.Address, told)
			}
			d.Out.Send(m.ReplyTo, &mail.DeliveryReturned{Reply: m.Done(nil), Found: held.Channel != nil})
		},
	}, now)
}
