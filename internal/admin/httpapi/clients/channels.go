package clients

import (
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// channelItem is the JSON form of a channel.
type channelItem struct {
	AcksUncommitted int                  `json:"acks_uncommitted"`
	Confirm         bool                 `json:"confirm"`
	Connection      forms.ConnectionLink `json:"connection_details"`
	Consumers       int                  `json:"consumer_count"`
	GlobalPrefetch  int                  `json:"global_prefetch_count"`
	IdleSince       string               `json:"idle_since"`
	Stats           forms.Stats          `json:"message_stats"`
	Unacked         int                  `json:"messages_unacknowledged"`
	Uncommitted     int                  `json:"messages_uncommitted"`
	Unconfirmed     int                  `json:"messages_unconfirmed"`
	Name            string               `json:"name"`
	Node            string               `json:"node"`
	Number          int                  `json:"number"`
	RaftCommands    int                  `json:"pending_raft_commands"`
	Prefetch        int                  `json:"prefetch_count"`
	State           string               `json:"state"`
	Transactional   bool                 `json:"transactional"`
	User            string               `json:"user"`
	Doer            string               `json:"user_who_performed_action"`
	VHost           string               `json:"vhost"`
}

func channelForm(r *rest.Request, c *management.Channel) channelItem {
	name := forms.ChannelName(c.Connection.Name, c.Number)
	return channelItem{
		Confirm: c.Confirm, Connection: forms.LinkTo(c.Connection),
		Consumers: c.Consumers, GlobalPrefetch: c.GlobalPrefetch, IdleSince: forms.Stamp(c.IdleSince), Stats: r.Rates.Stats("channel "+name, c.Counts),
		Unacked: c.Unacked, Unconfirmed: c.Unconfirmed, Name: name, Node: r.Node, Number: c.Number, Prefetch: c.Prefetch,
		AcksUncommitted: c.AcksUncommitted, Uncommitted: c.Uncommitted, Transactional: c.Transactional,
		State: c.State, User: c.User, Doer: c.User, VHost: c.VHost,
	}
}

// channels lists the channels of the path's virtual host, or of all.
func channels(r *rest.Request) (any, error) {
	return listChannels(r, "", func(c *management.Channel) bool { return r.VHost == "" || c.VHost == r.VHost })
}

// listChannels lists the wanted channels of a connection, of all for "". Users without the tag monitoring see only their own.
func listChannels(r *rest.Request, connection string, wanted func(*management.Channel) bool) (any, error) {
	all, err := r.Broker.Channels(r.Context(), connection)
	visible := func(c *management.Channel) bool { return wanted(c) && r.OwnsChannel(c) }
	return rest.ListForms(r, all, err, visible, func(c *management.Channel) channelItem { return channelForm(r, c) }, func(c *management.Channel) string { return forms.ChannelName(c.Connection.Name, c.Number) })
}

// channel describes one, with its consumers.
func channel(r *rest.Request) (any, error) {
	connection, number := forms.ChannelNamed(r.Name)
	if connection == "" {
		return nil, rest.ErrNotFound
	}
	c, consumers, found, err := r.Broker.ChannelNumbered(r.Context(), connection, number)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, rest.ErrNotFound
	case !r.OwnsChannel(&c):
		return nil, rest.ErrNotAuthorised
	}
	return rest.One(r, struct {
		channelItem
		ConsumerDetails []forms.Consumer `json:"consumer_details"`
		Publishes       []struct{}       `json:"publishes"`  // per exchange, which the broker does not count
		Deliveries      []struct{}       `json:"deliveries"` // per queue, which the broker does not count either
	}{channelForm(r, &c), rest.Forms(consumers, rest.All, forms.ConsumerOf(r.Node)), []struct{}{}, []struct{}{}}), nil
}
