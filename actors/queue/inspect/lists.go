package inspect

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// ListUnacked lists unacked deliveries.
func (v View) ListUnacked(m *mail.ListUnacked) Query {
	limit, all := limitOf(m.Limit), v.Consumers.Scan(v.Limit)
	seq := func(u consumers.Unsettled) uint64 { return v.Messages.Seq(u.Message) }
	first := lowest[consumers.Unsettled]{limit: limit + 1, compare: by(seq)}
	return Query{
		Step: func() bool {
			return all.Step(func(u consumers.Unsettled) {
				if seq(u) > m.After {
					first.add(u)
				}
			})
		},
		Answer: func() Answer {
			list := first.list()
			page := &mail.UnackedPage{Reply: m.Done(nil), More: len(list) > limit}
			for _, u := range list[:min(len(list), limit)] {
				page.Deliveries = append(page.Deliveries, v.unsettled(u))
			}
			return Answer{To: m.ReplyTo, Reply: page}
		},
	}
}

func (v *View) unsettled(u consumers.Unsettled) mail.UnackedDelivery {
	e := v.Messages.Entry(u.Message)
	d := mail.UnackedDelivery{
		Seq: e.Seq, Channel: u.Channel.Address, Number: u.Number, Delivered: v.Style.Dates.Date(u.Since.At(*v.Now)),
		Locked: v.wall(max(v.AckTimeouts.Until(u.Message), v.Sessions.Until(u.Consumer))), Expires: v.wall(v.Expiry.Present(u.Message)), Size: v.Messages.Size(u.Message),
		DeliveryCount: e.Returns.Failed(), Redelivered: e.Redelivered,
	}
	if u.Consumer != nil {
		d.Tag = u.Consumer.Tag
	}
	return d
}

// ListScheduled lists a page of scheduled messages, in the order of their release.
func (v View) ListScheduled(m *mail.ListScheduled) Answer {
	page := &mail.ScheduledPage{Reply: m.Done(nil)}
	a := Answer{To: m.ReplyTo, Reply: page}
	x := v.Scheduled
	if x == nil {
		return a
	}
	var later missing
	limit := limitOf(m.Limit)
	x.Behind(v.Style.Dates.Deadline(m.After.Due), m.After.Seq, func(h backlog.Handle) bool {
		if n := len(page.Messages); n == limit {
			last := &page.Messages[n-1]
			page.Next = &mail.Cursor{Due: last.Due, Seq: last.Seq}
			return false
		}
		if x.Messages.Backlog.IsPaged(h) {
			later.add(&x.Messages.Backlog, h, len(page.Messages))
		}
		page.Messages = append(page.Messages, v.scheduledMessage(h))
		return true
	})
	a.Want = later.refs()
	a.Found = func(contents []store.Content) { page.Messages = found(later, page.Messages, contents, reveal) }
	return a
}

// scheduledMessage describes a scheduled message.
func (v *View) scheduledMessage(h backlog.Handle) mail.ScheduledMessage {
	b := &v.Scheduled.Messages.Backlog
	e := b.Entry(h)
	enqueued, _ := b.Times(h)
	m := mail.ScheduledMessage{
		Seq: e.Seq, Due: v.Style.Dates.Date(e.Deadline), Enqueued: v.Style.Dates.Date(enqueued), Bytes: b.Size(h), Persistent: e.Stored,
	}
	if !b.IsPaged(h) {
		var r backlog.Record
		b.Get(h, &r)
		describe(&m, r.Exchange, r.RoutingKey, r.Header)
	}
	return m
}

// reveal adds a content read from the journal to m.
func reveal(m *mail.ScheduledMessage, c *store.Content) {
	if m.Unreadable = c.Err != nil; m.Unreadable {
		return
	}
	m.Persistent = c.Record.Kind == store.Put
	describe(m, c.Record.Exchange, c.Record.RoutingKey, c.Record.Header)
}

func describe(m *mail.ScheduledMessage, exchange, key, header []byte) {
	m.Exchange, m.RoutingKey = string(exchange), string(key)
	scan := content.Scan(header)
	m.MessageID, m.Priority = string(scan.MessageID), scan.Priority
}
