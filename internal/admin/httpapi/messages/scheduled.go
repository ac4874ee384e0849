package messages

import (
	"context"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// scheduledItem is the form of a scheduled message.
type scheduledItem struct {
	ID         string  `json:"id"`
	Due        string  `json:"due"`
	Enqueued   string  `json:"enqueued_at"`
	MessageID  *string `json:"message_id"`
	Exchange   string  `json:"exchange"`
	RoutingKey string  `json:"routing_key"`
	Bytes      int64   `json:"payload_bytes"`
	Persistent bool    `json:"persistent"`
	Priority   uint8   `json:"priority"`
	Unreadable bool    `json:"unreadable,omitempty"`
}

// scheduledPage is the form of a part of the list.
type scheduledPage struct {
	Messages []scheduledItem `json:"messages"`
	Next     *string         `json:"next"`
}

// scheduledCounts is the form of the counts.
type scheduledCounts struct {
	Count     int             `json:"count"`
	Bytes     int64           `json:"payload_bytes"`
	NextDue   *string         `json:"next_due"`
	Overdue   int             `json:"overdue"`
	Histogram forms.Histogram `json:"histogram"`
}

// cancelled and rescheduled are the answers for changed messages.
type cancelled struct {
	Count      int `json:"cancelled"`
	Unreadable int `json:"unreadable,omitempty"` // their contents could not be read, so they were not changed
}

type rescheduled struct {
	Count      int    `json:"rescheduled"`
	Unreadable int    `json:"unreadable,omitempty"`
	Due        string `json:"due"`
}

// listScheduled lists scheduled messages.
func listScheduled(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	after, limit, err := w.page()
	if err != nil {
		return nil, err
	}
	page, err := b.Scheduled(ctx, by, at, after, limit)
	if err != nil {
		return nil, err
	}
	shown := scheduledPage{Messages: make([]scheduledItem, len(page.Messages)), Next: next(page.Next)}
	for i, m := range page.Messages {
		shown.Messages[i] = scheduledItem{
			ID: strconv.FormatUint(m.ID, 10), Due: forms.Stamp(m.Due), Enqueued: forms.Stamp(m.Enqueued), MessageID: forms.OrNull(m.MessageID),
			Exchange: m.Exchange, RoutingKey: m.RoutingKey, Bytes: m.Bytes, Persistent: m.Persistent, Priority: m.Priority, Unreadable: m.Unreadable,
		}
	}
	return shown, nil
}

// countScheduled counts scheduled messages.
func countScheduled(ctx context.Context, b management.Messages, by management.Asker, at management.Place, _ params) (any, error) {
	c, err := b.ScheduledCounts(ctx, by, at)
	if err != nil {
		return nil, err
	}
	return scheduledCounts{c.Count, c.Bytes, forms.Optional(c.NextDue), c.Overdue, forms.HistogramOf(c.Within)}, nil
}

// nothingScheduled is the answer for a message that does not exist.
var nothingScheduled = rest.Nonexistent("no such scheduled message: it was released or cancelled, or never existed")

// cancelScheduled drops scheduled messages.
func cancelScheduled(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	if err := w.known(); err != nil {
		return nil, err
	}
	which, err := w.filter()
	if err != nil {
		return nil, err
	}
	return change(ctx, b, by, at, which, nil, func(s management.Swept) any { return cancelled{s.Count, s.Unreadable} })
}

// reschedule changes the time of scheduled messages.
func reschedule(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	if err := w.known("due", "delay"); err != nil {
		return nil, err
	}
	which, err := w.filter()
	if err != nil {
		return nil, err
	}
	when, err := w.when()
	if err != nil {
		return nil, err
	}
	return change(ctx, b, by, at, which, &when, func(s management.Swept) any {
		return rescheduled{s.Count, s.Unreadable, forms.Stamp(s.Due)}
	})
}
