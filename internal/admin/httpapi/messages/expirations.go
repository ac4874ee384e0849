package messages

import (
	"context"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/management"
)

// expirationItem is the form of a message that expires.
type expirationItem struct {
	ID         string `json:"id"`
	Expires    string `json:"expires_at"`
	Enqueued   string `json:"enqueued_at"`
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	Bytes      int64  `json:"payload_bytes"`
	Unreadable bool   `json:"unreadable,omitempty"`
}

// expirationsPage is the form of the expiring messages of a queue.
type expirationsPage struct {
	forms.Expiring
	Messages []expirationItem `json:"messages"`
	Next     *string          `json:"next"`
}

// expirations lists expiring messages.
func expirations(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	after, limit, err := w.page()
	if err != nil {
		return nil, err
	}
	counts, page, err := b.Expirations(ctx, by, at, after, limit)
	if err != nil {
		return nil, err
	}
	shown := expirationsPage{Expiring: forms.ExpiringOf(&counts), Messages: make([]expirationItem, len(page.Messages)), Next: next(page.Next)}
	for i := range page.Messages {
		m := &page.Messages[i]
		shown.Messages[i] = expirationItem{
			ID: strconv.FormatUint(m.ID, 10), Expires: forms.Stamp(m.Expires), Enqueued: forms.Stamp(m.Enqueued),
			Exchange: m.Exchange, RoutingKey: m.RoutingKey, Bytes: m.Bytes, Unreadable: m.Unreadable,
		}
	}
	return shown, nil
}
