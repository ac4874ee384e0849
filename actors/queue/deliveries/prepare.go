package deliveries

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Prepare ensures that the work of a transaction will succeed (TXN-6): the deliveries are not requeued, and there is
// room for the messages.
func (d *Deliveries) Prepare(m *mail.PrepareWork, now clock.Instant) {
	d.Out.Send(m.ReplyTo, &mail.PrepareWorkReply{Reply: m.Done(d.prepare(m, now))})
}

func (d *Deliveries) prepare(m *mail.PrepareWork, now clock.Instant) error {
	set := d.Messages
	if n := len(m.Headers) + m.Copies; set.Refuses(n, m.Bytes) || n > 0 && set.Journal.Err() != nil {
		return mail.ErrWorkRefused
	}
	if set.Sessions != nil && slices.ContainsFunc(m.Headers, func(header []byte) bool { _, ok := sessions.IDOf(header); return !ok }) {
		return mail.ErrSessionNeeded
	}
	if len(m.Numbers) == 0 {
		return nil
	}
	if m.DeadLetters {
		if err := d.refusal(); err != nil {
			return err
		}
	}
	h := d.Consumers.Channel(m.Channel)
	if h == nil {
		return mail.ErrDeliveryLost
	}
	all := make([]consumers.Unsettled, len(m.Numbers))
	for i, n := range m.Numbers {
		u, ok := h.Unacked.Get(n)
		all[i] = consumers.Unsettled{ChannelDelivery: u, Channel: h, Number: n}
		if !ok || !d.holds(&all[i], now) {
			return mail.ErrDeliveryLost
		}
	}
	if d.prepared == nil {
		d.prepared = map[backlog.Handle]int64{}
	}
	for _, u := range all {
		d.prepared[u.Message] = d.Timeouts.Until(u.Message)
		d.Timeouts.Stop(u.Message)
	}
	return nil
}

// IsPrepared reports whether a transaction is about to settle a message's delivery: no other command may settle it.
func (d *Deliveries) IsPrepared(h backlog.Handle) bool {
	_, is := d.prepared[h]
	return is
}

// until returns the deadline of a delivery, 0 for none; for a prepared one, the deadline that applies after a rollback.
func (d *Deliveries) until(h backlog.Handle) int64 {
	if until, is := d.prepared[h]; is {
		return until
	}
	return d.Timeouts.Until(h)
}

// extend moves the deadline of a delivery to ms from now, as Timeouts.Extend does.
func (d *Deliveries) extend(h backlog.Handle, now, ms int64) int64 {
	until, is := d.prepared[h]
	if !is {
		return d.Timeouts.Extend(h, now, ms)
	}
	if until != 0 && ms >= 0 {
		until = max(until, store.After(now, ms))
		d.prepared[h] = until
	}
	return until
}

// Unprepare ends the preparation of deliveries. Deliveries whose deadline has passed during the preparation are
// requeued now.
func (d *Deliveries) Unprepare(m *mail.ReleaseWork, now clock.Instant) {
	h := d.Consumers.Channel(m.Channel)
	if h == nil {
		return
	}
	returned := &mail.DeliveriesRequeued{Queue: d.Self, Name: d.Name}
	for _, n := range m.Numbers {
		u, ok := h.Unacked.Get(n)
		if !ok || !d.IsPrepared(u.Message) {
			continue
		}
		until := d.prepared[u.Message]
		delete(d.prepared, u.Message)
		over := until != 0 && until <= now.Floor()
		if u.Consumer != nil && u.Consumer.Session {
			over = d.Messages.Sessions.Until(u.Consumer) <= now.Floor()
		}
		switch {
		case over:
			d.Messages.Counts.TimedOut++
			d.RequeueOne(h, n, returned, now)
		case until != 0:
			d.Timeouts.Start(u.Message, h, n, until, now.Floor())
		}
	}
	if len(returned.Numbers) > 0 {
		d.Out.Send(h.Address, returned)
	}
}
