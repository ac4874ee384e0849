package queries

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

// findQueueFor finds the queue of a place, or the holder of a delayed exchange, for a user with read permission.
func (qs *Queries) findQueueFor(by management.Asker, at management.Place) (*topology.Queue, error) {
	v, ok := qs.cfg.VHosts.Find(at.VHost)
	if !ok {
		return nil, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", at.VHost)
	}
	if err := qs.cfg.Permissions.VHostAccess(by.User, v.Name); err != nil {
		return nil, err
	}
	resource := auth.Resource{Kind: auth.Queue, Name: at.Name}
	if at.Exchange {
		resource.Kind = auth.Exchange
	}
	if err := qs.cfg.Permissions.Check(by.User, v.Name, resource, auth.Read); err != nil {
		return nil, err
	}
	if at.Exchange {
		return holderOf(v, at.Name)
	}
	q := v.Directory().Queue([]byte(at.Name))
	switch {
	case q == nil:
		return nil, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", at.Name, v.Name)
	case q.Exclusive && (q.Owner == nil || q.Owner.GetId() != by.Connection):
		return nil, policies.ResourceLocked(q.Name, v.Name)
	}
	return q, nil
}

func holderOf(v *topology.VHost, name string) (*topology.Queue, error) {
	x := v.Directory().Exchange([]byte(name))
	if x == nil {
		return nil, protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, v.Name)
	}
	q := x.Holder()
	if q == nil {
		return nil, protocol.ChannelErrorf(protocol.PreconditionFailed, "exchange '%s' in vhost '%s' does not delay messages", name, v.Name)
	}
	return q, nil
}

// answered is implemented by every answer of a queue.
type answered interface{ Failure() error }

// askOne asks the queue of a place, for a user with read permission.
func askOne[T answered](ctx context.Context, qs *Queries, by management.Asker, at management.Place, question func(mail.Request) any) (T, *topology.Queue, error) {
	var none T
	q, err := qs.findQueueFor(by, at)
	if err != nil {
		return none, nil, err
	}
	answer, err := ask.One[T](ctx, qs.cfg.Asker, q.PID, func(replyTo mail.Address) any {
		return question(mail.Request{ReplyTo: replyTo, By: events.OriginOf(ctx)})
	})
	if err == nil {
		err = answer.Failure()
	}
	return answer, q, err
}

// Peek implements management.Messages.
func (qs *Queries) Peek(ctx context.Context, by management.Asker, at management.Place, how management.Peek) (management.PeekPage, error) {
	answer, _, err := askOne[*mail.PeekReply](ctx, qs, by, at, func(r mail.Request) any {
		m := &mail.Peek{Request: r, After: mail.Cursor(how.After), Limit: how.Limit, Cut: how.Cut, ByDeadline: how.ByDeadline, ByNumber: how.ByNumber, Queue: at.Name, VHost: at.VHost}
		for shown, state := range statesShown {
			if how.States&shown != 0 {
				m.States |= state
			}
		}
		return m
	})
	if err != nil {
		return management.PeekPage{}, err
	}
	page := management.PeekPage{Messages: make([]management.Peeked, len(answer.Messages)), Next: (*management.Cursor)(answer.Next)}
	for i := range answer.Messages {
		page.Messages[i] = peekedShown(&answer.Messages[i])
	}
	return page, nil
}

// Expirations implements management.Messages.
func (qs *Queries) Expirations(ctx context.Context, by management.Asker, at management.Place, after management.Cursor, limit int) (c management.ExpiryCounts, page management.PeekPage, err error) {
	info, _, err := askOne[*mail.QueueInfo](ctx, qs, by, at, func(r mail.Request) any { return &mail.DescribeQueue{Request: r} })
	switch {
	case err != nil:
		return c, page, err
	case info.Down:
		return c, page, mail.QueueDown(at.Name, at.VHost)
	}
	page, err = qs.Peek(ctx, by, at, management.Peek{After: after, Limit: limit, ByDeadline: true})
	return management.ExpiryCounts(info.Expiring), page, err
}

// statesShown are the states of a message, by their names in the API.
var statesShown = map[int]mail.MessageState{
	management.StateReady: mail.Ready, management.StateUnacked: mail.Unacked, management.StateScheduled: mail.Scheduled, management.StateDeferred: mail.Deferred,
}

func peekedShown(m *mail.PeekedMessage) management.Peeked {
	shown := management.Peeked{
		ID: m.Seq, Enqueued: m.Enqueued, Expires: m.Expires, Due: m.Due, Locked: m.Locked, Priority: m.Priority, DeliveryCount: m.Returns.Failed(),
		Redelivered: m.Redelivered, Exchange: m.Exchange, RoutingKey: m.RoutingKey, Body: m.Body, Bytes: m.Size, Unreadable: m.Unreadable,
	}
	for state, of := range statesShown {
		if of == m.State {
			shown.State = state
		}
	}
	if !m.Unreadable {
		var err error
		shown.Properties, err = protocol.DecodeProperties(m.Header)
		shown.Unreadable = err != nil
	}
	return shown
}

// Unacked implements management.Messages. The delivery tags come from the channels afterwards.
func (qs *Queries) Unacked(ctx context.Context, by management.Asker, at management.Place, after uint64, limit int) ([]management.Unacked, bool, error) {
	page, q, err := askOne[*mail.UnackedPage](ctx, qs, by, at, func(r mail.Request) any {
		return &mail.ListUnacked{Request: r, After: after, Limit: limit, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil || len(page.Deliveries) == 0 {
		return nil, false, err
	}
	clients, err := owners(ctx, qs, func(yield func(mail.Address) bool) {
		for i := range page.Deliveries {
			if !yield(page.Deliveries[i].Channel) {
				return
			}
		}
	})
	if err != nil {
		return nil, false, err
	}
	tags, err := qs.tags(ctx, q, page.Deliveries)
	if err != nil {
		return nil, false, err
	}
	list := make([]management.Unacked, len(page.Deliveries))
	for i, d := range page.Deliveries {
		list[i] = management.Unacked{
			ID: d.Seq, ConsumerTag: d.Tag, DeliveryTag: tags[mail.ID(d.Channel)][d.Number], Delivered: d.Delivered, Locked: d.Locked,
			Expires: d.Expires, Bytes: d.Size, DeliveryCount: d.DeliveryCount, Redelivered: d.Redelivered,
		}
		list[i].Connection, list[i].Channel = clients.owner(d.Channel)
	}
	return list, page.More, nil
}

// tags asks the channels for delivery tags: by channel and number.
func (qs *Queries) tags(ctx context.Context, q *topology.Queue, deliveries []mail.UnackedDelivery) (map[string]map[uint64]uint64, error) {
	var channels []mail.Address
	numbers := map[string][]uint64{}
	for _, d := range deliveries {
		if d.Channel == nil { // locked, no longer by a channel
			continue
		}
		if numbers[d.Channel.GetId()] == nil {
			channels = append(channels, d.Channel)
		}
		numbers[d.Channel.GetId()] = append(numbers[d.Channel.GetId()], d.Number)
	}
	tags := map[string]map[uint64]uint64{}
	err := qs.cfg.Asker.All(ctx, len(channels), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(channels[i], &mail.FindDeliveries{Request: r, Queue: q.PID, Numbers: numbers[channels[i].GetId()]})
	}, func(answer any) {
		found := answer.(*mail.DeliveriesFound)
		tags[channels[found.ID].GetId()] = found.Tags
	})
	return tags, err
}

// RenewLock implements management.Messages.
func (qs *Queries) RenewLock(ctx context.Context, by management.Asker, at management.Place, which management.Lock) (count int, until int64, err error) {
	m := &mail.RenewLock{Seq: which.ID, Tag: which.ConsumerTag, Queue: at.Name, VHost: at.VHost}
	if which.DeliveryTag != 0 {
		return qs.renewTag(ctx, by, m, which.DeliveryTag)
	}
	answer, _, err := askOne[*mail.RenewLockReply](ctx, qs, by, at, func(r mail.Request) any {
		m.Request = r
		return m
	})
	if err != nil {
		return 0, 0, err
	}
	return answer.Count, answer.Locked, nil
}

// renewTag renews the lock of a delivery of the channel of by. No other permission is needed.
func (qs *Queries) renewTag(ctx context.Context, by management.Asker, m *mail.RenewLock, tag uint64) (count int, until int64, err error) {
	if by.Channel == "" {
		return 0, 0, protocol.ChannelErrorf(protocol.PreconditionFailed, "a delivery tag is valid only on its own channel: use the id, or publish the command on that channel")
	}
	m.Channel = qs.cfg.Asker.System.NewLocalPID(by.Channel)
	found, err := ask.One[*mail.DeliveriesFound](ctx, qs.cfg.Asker, m.Channel, func(replyTo mail.Address) any {
		return &mail.FindDeliveries{Request: mail.Request{ReplyTo: replyTo}, Tag: tag}
	})
	if err != nil || found.Queue == nil {
		return 0, 0, err
	}
	for m.Number = range found.Tags { // there is only one
	}
	answer, err := ask.One[*mail.RenewLockReply](ctx, qs.cfg.Asker, found.Queue, func(replyTo mail.Address) any {
		m.ReplyTo = replyTo
		return m
	})
	switch {
	case err != nil:
		return 0, 0, err
	case answer.Err != nil: // the queue has gone, and the delivery with it
		return 0, 0, nil
	}
	return answer.Count, answer.Locked, nil
}

// ReturnDelivery implements management.Messages.
func (qs *Queries) ReturnDelivery(ctx context.Context, by management.Asker, at management.Place, id uint64) (found bool, err error) {
	if err := qs.mayChange(by, at); err != nil {
		return false, err
	}
	answer, _, err := askOne[*mail.ReturnDeliveryReply](ctx, qs, by, at, func(r mail.Request) any {
		return &mail.ReturnDelivery{Request: r, Seq: id, Queue: at.Name, VHost: at.VHost}
	})
	if err != nil {
		return false, err
	}
	if answer.Found {
		qs.publish(ctx, events.OriginOf(ctx).Declared(false), "delivery.returned", at.VHost, protocol.Table{
			{Key: "name", Value: at.Name}, {Key: "vhost", Value: at.VHost}, {Key: "id", Value: strconv.FormatUint(id, 10)},
		})
	}
	return answer.Found, nil
}

// ownerOf returns the id of the actor of a channel's connection, with which the channel's begins; "" for no channel.
func ownerOf(channel mail.Address) string {
	parent, _, _ := strings.Cut(mail.ID(channel), "/channel/")
	return parent
}

// owner returns the connection of a channel, nil if it has none any more, and the channel's number.
func (all *clients) owner(channel mail.Address) (*management.Connection, int) {
	owner := all.byID[ownerOf(channel)]
	if owner == nil {
		return nil, 0
	}
	i := slices.IndexFunc(owner.channels, func(l mail.ChannelLink) bool { return mail.Same(l.PID, channel) })
	if i < 0 {
		return &owner.shown, 0
	}
	return &owner.shown, int(owner.channels[i].ID)
}
