package supervision

import (
	"context"
	"math"

	"candlemark/actors/mail"
	"candlemark/internal/admin"
)

// Scheduled implements admin.Messages.
func (n *Node) Scheduled(ctx context.Context, by admin.Asker, at admin.Place, after admin.Cursor, limit int) (admin.ScheduledPage, error) {
	answer, _, err := inquire[*mail.ScheduledPage](ctx, n, by, at, func(r mail.Request) any {
		return &mail.ListScheduled{Request: r, After: mail.Cursor(after), Limit: limit, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return admin.ScheduledPage{}, err
	}
	page := admin.ScheduledPage{Messages: make([]admin.Scheduled, len(answer.Messages)), Next: (*admin.Cursor)(answer.Next)}
	for i, m := range answer.Messages {
		page.Messages[i] = admin.Scheduled{
			ID: m.Seq, Due: m.Due, Enqueued: m.Enqueued, MessageID: m.MessageID, Exchange: m.Exchange, RoutingKey: m.RoutingKey,
			Bytes: m.Bytes, Persistent: m.Persistent, Priority: m.Priority, Unreadable: m.Unreadable,
		}
	}
	return page, nil
}

// ScheduledCounts implements admin.Messages.
func (n *Node) ScheduledCounts(ctx context.Context, by admin.Asker, at admin.Place) (admin.ScheduledCounts, error) {
	answer, _, err := inquire[*mail.QueueInfo](ctx, n, by, at, func(r mail.Request) any { return &mail.DescribeQueue{Request: r} })
	switch {
	case err != nil:
		return admin.ScheduledCounts{}, err
	case answer.Down:
		return admin.ScheduledCounts{}, mail.QueueDown(at.Name, at.VHost)
	}
	return admin.ScheduledCounts(answer.Scheduled), nil
}

// CancelScheduled implements admin.Messages.
func (n *Node) CancelScheduled(ctx context.Context, by admin.Asker, at admin.Place, which admin.ScheduledID) (count int, err error) {
	answer, _, err := inquire[*mail.ScheduledChanged](ctx, n, by, at, func(r mail.Request) any {
		return &mail.CancelScheduled{Request: r, Seq: which.ID, MessageID: which.MessageID, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return 0, err
	}
	return answer.Count, nil
}

// Reschedule implements admin.Messages.
func (n *Node) Reschedule(ctx context.Context, by admin.Asker, at admin.Place, which admin.ScheduledID, when admin.When) (count int, due int64, err error) {
	due = when.MS
	if when.Relative {
		now := n.clock.Now().Ceil() + n.clock.Skew()
		due = now + min(when.MS, math.MaxInt64-now)
	}
	answer, _, err := inquire[*mail.ScheduledChanged](ctx, n, by, at, func(r mail.Request) any {
		return &mail.Reschedule{Request: r, Seq: which.ID, MessageID: which.MessageID, Due: due, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return 0, 0, err
	}
	return answer.Count, due, nil
}
