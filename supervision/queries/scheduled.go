package queries

import (
	"context"
	"math"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/protocol"
)

// Scheduled implements management.Messages.
func (qs *Queries) Scheduled(ctx context.Context, by management.Asker, at management.Place, after management.Cursor, limit int) (management.ScheduledPage, error) {
	answer, _, err := askOne[*mail.ScheduledPage](ctx, qs, by, at, func(r mail.Request) any {
		return &mail.ListScheduled{Request: r, After: mail.Cursor(after), Limit: limit, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return management.ScheduledPage{}, err
	}
	page := management.ScheduledPage{Messages: make([]management.Scheduled, len(answer.Messages)), Next: (*management.Cursor)(answer.Next)}
	for i, m := range answer.Messages {
		page.Messages[i] = management.Scheduled{
			ID: m.Seq, Due: m.Due, Enqueued: m.Enqueued, MessageID: m.MessageID, Exchange: m.Exchange, RoutingKey: m.RoutingKey,
			Bytes: m.Bytes, Persistent: m.Persistent, Priority: m.Priority, Unreadable: m.Unreadable,
		}
	}
	return page, nil
}

// ScheduledCounts implements management.Messages.
func (qs *Queries) ScheduledCounts(ctx context.Context, by management.Asker, at management.Place) (management.ScheduledCounts, error) {
	answer, _, err := askOne[*mail.QueueInfo](ctx, qs, by, at, func(r mail.Request) any { return &mail.DescribeQueue{Request: r} })
	switch {
	case err != nil:
		return management.ScheduledCounts{}, err
	case answer.Down:
		return management.ScheduledCounts{}, mail.QueueDown(at.Name, at.VHost)
	}
	return management.ScheduledCounts(answer.Scheduled), nil
}

// mayChange is auth.MayAlter for a place.
func (qs *Queries) mayChange(by management.Asker, at management.Place) error {
	resource := auth.Resource{Kind: auth.Queue, Name: at.Name}
	if at.Exchange {
		resource.Kind = auth.Exchange
	}
	return auth.MayAlter(qs.cfg.Permissions, by.User, at.VHost, resource)
}

// ChangeScheduled implements management.Messages.
func (qs *Queries) ChangeScheduled(ctx context.Context, by management.Asker, at management.Place, which management.ScheduledID, to *management.When) (count int, due int64, err error) {
	if err := qs.mayChange(by, at); err != nil {
		return 0, 0, err
	}
	m := mail.ChangeScheduled{Cancel: to == nil, Seq: which.ID, MessageID: which.MessageID, Queue: at.Name, VHost: at.VHost}
	if to != nil {
		m.Due = dateOf(qs.cfg.Asker.Clock, *to)
	}
	answer, _, err := askOne[*mail.ChangeScheduledReply](ctx, qs, by, at, func(r mail.Request) any {
		m.Request = r
		return &m
	})
	if err != nil {
		return 0, 0, err
	}
	if m.Cancel {
		qs.publishScheduled(ctx, "scheduled.cancelled", at, which, answer.Count)
	} else {
		qs.publishScheduled(ctx, "scheduled.moved", at, which, answer.Count, protocol.Field{Key: "due_ms", Value: m.Due})
	}
	return answer.Count, m.Due, nil
}

// dateOf returns a time in wall ms.
func dateOf(c *clock.Clock, when management.When) int64 {
	if !when.Relative {
		return when.MS
	}
	dates := c.Dates()
	dates.Read()
	now := dates.Date(c.Now().Ceil())
	return now + min(when.MS, math.MaxInt64-1-now)
}
