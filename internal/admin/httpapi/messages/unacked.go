package messages

import (
	"context"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// unackedItem is the form of an unsettled delivery. Times that do not apply are null.
type unackedItem struct {
	ID            string                `json:"id"`
	ConsumerTag   string                `json:"consumer_tag"`
	Channel       *string               `json:"channel"`
	Connection    *forms.ConnectionLink `json:"connection_details"`
	DeliveryTag   *uint64               `json:"delivery_tag"`
	Delivered     string                `json:"delivered_at"`
	Locked        *string               `json:"lock_expires_at"`
	Expires       *string               `json:"expires_at"`
	Bytes         int64                 `json:"payload_bytes"`
	DeliveryCount uint32                `json:"delivery_count"`
	Redelivered   bool                  `json:"redelivered"`
}

// unackedPage is the form of a part of the deliveries of a queue.
type unackedPage struct {
	Deliveries []unackedItem `json:"deliveries"`
	Next       *string       `json:"next"`
}

// renewed is the answer for locks that were renewed.
type renewed struct {
	Count  int     `json:"renewed"`
	Locked *string `json:"lock_expires_at"`
}

// returned is the answer for returned deliveries.
type returned struct {
	Count int `json:"returned"`
}

// unacked lists unsettled deliveries.
func unacked(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	after, limit, err := w.page()
	if err != nil {
		return nil, err
	}
	list, more, err := b.Unacked(ctx, by, at, after.Seq, limit)
	if err != nil {
		return nil, err
	}
	page := unackedPage{Deliveries: make([]unackedItem, len(list))}
	for i := range list {
		page.Deliveries[i] = unackedShown(&list[i])
	}
	if n := len(list); more && n > 0 {
		page.Next = &page.Deliveries[n-1].ID
	}
	return page, nil
}

func unackedShown(u *management.Unacked) unackedItem {
	item := unackedItem{
		ID: strconv.FormatUint(u.ID, 10), ConsumerTag: u.ConsumerTag, Delivered: forms.Stamp(u.Delivered), Locked: forms.Optional(u.Locked),
		Expires: forms.Optional(u.Expires), Bytes: u.Bytes, DeliveryCount: u.DeliveryCount, Redelivered: u.Redelivered,
	}
	if c := u.Connection; c != nil {
		name, link := forms.ChannelName(c.Name, u.Channel), forms.LinkTo(c)
		item.Channel, item.Connection = &name, &link
	}
	if u.DeliveryTag != 0 {
		item.DeliveryTag = &u.DeliveryTag
	}
	return item
}

// renew renews locks.
func renew(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	var which management.Lock
	var err error
	if which.ID, err = w.number("id"); err != nil {
		return nil, err
	}
	if which.DeliveryTag, err = w.number("delivery_tag"); err != nil {
		return nil, err
	}
	which.ConsumerTag = w["consumer_tag"]
	named := 0
	for _, given := range []bool{which.ID != 0, which.DeliveryTag != 0, which.ConsumerTag != ""} {
		if given {
			named++
		}
	}
	if named != 1 {
		return nil, rest.Complaint("exactly one of id, consumer_tag and delivery_tag is required")
	}
	count, until, err := b.RenewLock(ctx, by, at, which)
	switch {
	case err != nil:
		return nil, err
	case count == 0:
		return nil, notLocked
	}
	return renewed{count, forms.Optional(until)}, nil
}

// notLocked is the answer for a delivery that does not exist.
var notLocked = rest.Nonexistent("no such locked delivery: it was settled, or its lock has expired")

// giveBack requeues a message that a consumer holds.
func giveBack(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	id, err := w.number("id")
	switch {
	case err != nil:
		return nil, err
	case id == 0:
		return nil, rest.Complaint("id is required")
	}
	switch found, err := b.ReturnDelivery(ctx, by, at, id); {
	case err != nil:
		return nil, err
	case !found:
		return nil, notLocked
	}
	return returned{1}, nil
}
