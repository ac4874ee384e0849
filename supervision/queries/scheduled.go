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

// ChangeScheduled implements management.Messages. The queue examines a part of its messages for each question about a filter.
func (qs *Queries) ChangeScheduled(ctx context.Context, by management.Asker, at management.Place, which management.ScheduledFilter, to *management.When) (swept management.Swept, err error) {
	if !which.Look {
		if err := qs.mayChange(by, at); err != nil {
			return swept, err
		}
	}
	m := mail.ChangeScheduled{Cancel: to == nil, Seq: which.ID, MessageID: which.MessageID, Queue: at.Name, VHost: at.VHost}
	if to != nil {
		swept.Due = dateOf(qs.cfg.Asker.Clock, *to)
		m.Due = swept.Due
	}
	filter := mail.ScheduledFilter{
		MessageID: which.MessageID, CorrelationID: which.CorrelationID, Headers: which.Headers,
		DueFrom: which.DueFrom, DueBefore: which.DueBefore, Retries: which.Retries, Look: which.Look,
	}
	for more := true; more; {
		var answer *mail.ChangeScheduledReply
		answer, _, err = askOne[*mail.ChangeScheduledReply](ctx, qs, by, at, func(r mail.Request) any {
			question, part := m, filter
			if question.Request = r; !which.Named() {
				question.Filter = &part
			}
			return &question
		})
		if err != nil {
			break
		}
		swept.Count, swept.Unreadable = swept.Count+answer.Count, swept.Unreadable+answer.Unreadable
		filter.From, more = answer.Next, answer.Next != nil
	}
	if !which.Look && swept.Count > 0 {
		qs.publishScheduled(ctx, &m, at, swept.Count, conditions(which))
	}
	return swept, err
}

// conditions returns the conditions of a filter, without the message-id, for an event.
func conditions(f management.ScheduledFilter) (list protocol.Table) {
	add := func(key string, v any, is bool) {
		if is {
			list = append(list, protocol.Field{Key: key, Value: v})
		}
	}
	add("correlation_id", f.CorrelationID, f.CorrelationID != "")
	add("headers", f.Headers, f.Headers != nil)
	add("due_after_ms", f.DueFrom, f.DueFrom != 0)
	add("due_before_ms", f.DueBefore, f.DueBefore != 0)
	add("retries", true, f.Retries)
	return list
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
