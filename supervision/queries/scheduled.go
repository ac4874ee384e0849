package queries

import (
	"context"
	"math"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
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

// CancelScheduled implements management.Messages.
func (qs *Queries) CancelScheduled(ctx context.Context, by management.Asker, at management.Place, which management.ScheduledID) (count int, err error) {
	if err := qs.mayChange(by, at); err != nil {
		return 0, err
	}
	answer, _, err := askOne[*mail.ChangeScheduledReply](ctx, qs, by, at, func(r mail.Request) any {
		return &mail.CancelScheduled{Request: r, Seq: which.ID, MessageID: which.MessageID, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return 0, err
	}
	qs.publishScheduled(ctx, "scheduled.cancelled", at, which, answer.Count)
	return answer.Count, nil
}

// Reschedule implements management.Messages.
func (qs *Queries) Reschedule(ctx context.Context, by management.Asker, at management.Place, which management.ScheduledID, when management.When) (count int, due int64, err error) {
	if err := qs.mayChange(by, at); err != nil {
		return 0, 0, err
	}
	due = when.MS
	if when.Relative {
		dates := qs.cfg.Asker.Clock.Dates()
		dates.Read()
		now := dates.Date(qs.cfg.Asker.Clock.Now().Ceil())
		due = now + min(when.MS, math.MaxInt64-now)
	}
	answer, _, err := askOne[*mail.ChangeScheduledReply](ctx, qs, by, at, func(r mail.Request) any {
		return &mail.Reschedule{Request: r, Seq: which.ID, MessageID: which.MessageID, Due: due, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return 0, 0, err
	}
	qs.publishScheduled(ctx, "scheduled.moved", at, which, answer.Count, protocol.Field{Key: "due_ms", Value: due})
	return answer.Count, due, nil
}
