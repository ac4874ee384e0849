package deliveries

import (
	"slices"

	"candlemark/actors/queue/consumers"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// SettleLocked settles deliveries by their locks, if all of them are held, and informs their channels.
func (d *Deliveries) SettleLocked(m *mail.SettleLocked, now clock.Instant) {
	if m.How == mail.ToDeadLetters {
		if err := d.refusal(); err != nil {
			d.Out.Send(m.ReplyTo, &mail.SettleLockedReply{Reply: m.Done(err)})
			return
		}
	}
	want := setOf(m.Locks) // true: not found
	var found []consumers.Unsettled
	theirs := func(u *consumers.Unsettled) bool {
		return u.Consumer != nil && u.Consumer.Session && !mail.Same(m.Connection, u.Consumer.Connection)
	}
	all := d.Consumers.Scan(int(*d.Limit))
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if u.Channel.Claims || d.IsPrepared(u.Message) { // a move settles its deliveries at once
					return
				}
				if l := d.lockOf(&u); want[l] {
					want[l], found = false, append(found, u)
				}
			}) || len(found) == len(want)
		},
		End: func(now clock.Instant) {
			held := len(found) == len(want) && !slices.ContainsFunc(found, func(u consumers.Unsettled) bool { return theirs(&u) || !d.holds(&u, now) })
			if !held {
				d.Out.Send(m.ReplyTo, &mail.SettleLockedReply{Reply: m.Done(nil)})
				return
			}
			d.settleFound(m, found, now)
		},
	}, now)
}

func setOf(locks []mail.Lock) map[mail.Lock]bool {
	all := make(map[mail.Lock]bool, len(locks))
	for _, l := range locks {
		all[l] = true
	}
	return all
}

// holds reports whether a delivery is still unacked and its lock has not expired, even if the timer is late.
func (d *Deliveries) holds(u *consumers.Unsettled, now clock.Instant) bool {
	if there, ok := u.Channel.Unacked.Get(u.Number); !ok || there != u.ChannelDelivery {
		return false
	}
	if u.Consumer != nil && u.Consumer.Session { // its session is locked instead
		return d.Messages.Sessions.Until(u.Consumer) > now.Floor()
	}
	until := d.Timeouts.Until(u.Message)
	return until == 0 || until > now.Floor()
}

// settleFound settles held deliveries and answers.
func (d *Deliveries) settleFound(m *mail.SettleLocked, found []consumers.Unsettled, now clock.Instant) {
	ranges := map[*consumers.Holder][]mail.SettleRange{}
	returned := map[*consumers.Holder]*mail.DeliveriesRequeued{}
	var order []*consumers.Holder
	for _, u := range found {
		if returned[u.Channel] == nil {
			returned[u.Channel] = &mail.DeliveriesRequeued{Queue: d.Self, Name: d.Name, Asked: true, Settled: true}
			order = append(order, u.Channel)
		}
		returned[u.Channel].Add(u.Number)
		ranges[u.Channel] = append(ranges[u.Channel], mail.SettleRange{First: u.Number, Last: u.Number, How: m.How, Outcome: m.Outcome})
	}
	t := &tally{asked: m, open: 1, end: func(lost []mail.Range) {
		d.whenDurable(true, func(err error) {
			d.Out.Send(m.ReplyTo, &mail.SettleLockedReply{Reply: m.Done(err), Held: len(lost) == 0})
		})
	}}
	for _, h := range order {
		d.Out.Send(h.Address, returned[h])
	}
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool { // one channel, or a part of one
			h := order[0]
			if ranges[h] = d.settleSome(h, ranges[h], t, now); len(ranges[h]) == 0 {
				order = order[1:]
			}
			return len(order) == 0
		},
		End: func(clock.Instant) { t.done() },
	}, now)
}
