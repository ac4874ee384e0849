package httpapi

import "strconv"

// channelItem is the JSON form of a channel.
type channelItem struct {
	AcksUncommitted int            `json:"acks_uncommitted"`
	Confirm         bool           `json:"confirm"`
	Connection      connectionLink `json:"connection_details"`
	Consumers       int            `json:"consumer_count"`
	GlobalPrefetch  int            `json:"global_prefetch_count"`
	Stats           messageStats   `json:"message_stats"`
	Unacked         int            `json:"messages_unacknowledged"`
	Uncommitted     int            `json:"messages_uncommitted"`
	Unconfirmed     int            `json:"messages_unconfirmed"`
	Name            string         `json:"name"`
	Node            string         `json:"node"`
	Number          int            `json:"number"`
	RaftCommands    int            `json:"pending_raft_commands"`
	Prefetch        int            `json:"prefetch_count"`
	State           string         `json:"state"`
	Transactional   bool           `json:"transactional"`
	User            string         `json:"user"`
	Doer            string         `json:"user_who_performed_action"`
	VHost           string         `json:"vhost"`
}

// channelName is the name of a channel in paths and lists.
func channelName(connection string, number int) string {
	return connection + " (" + strconv.Itoa(number) + ")"
}

func (a *api) channelItem(c *Channel) channelItem {
	name := channelName(c.Connection.Name, c.Number)
	return channelItem{
		Confirm: c.Confirm, Connection: connectionLink{c.Connection.Name, c.Connection.PeerHost, c.Connection.PeerPort},
		Consumers: c.Consumers, GlobalPrefetch: c.GlobalPrefetch, Stats: a.rates.stats("channel "+name, c.Counts),
		Unacked: c.Unacked, Unconfirmed: c.Unconfirmed, Name: name, Node: a.node, Number: c.Number, Prefetch: c.Prefetch,
		AcksUncommitted: c.AcksUncommitted, Uncommitted: c.Uncommitted, Transactional: c.Transactional,
		State: c.State, User: c.User, Doer: c.User, VHost: c.VHost,
	}
}

// channels lists those of the path's virtual host, or of all.
func (a *api) channels(r *request) {
	if r.vhost == "" || a.exists(r) {
		a.listChannels(r, func(c *Channel) bool { return r.vhost == "" || c.VHost == r.vhost })
	}
}

// listChannels answers with those that are wanted. Who is no monitor sees its
// own.
func (a *api) listChannels(r *request, wanted func(*Channel) bool) {
	all, err := a.broker.Channels(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := make([]channelItem, 0, len(all))
	for i := range all {
		if c := &all[i]; wanted(c) && (monitors(r) || c.User == r.user.Name) {
			items = append(items, a.channelItem(c))
		}
	}
	list(r, items, func(c *channelItem) string { return c.Name })
}

// channel describes one, with its consumers.
func (a *api) channel(r *request) {
	all, err := a.broker.Channels(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	for i := range all {
		c := &all[i]
		if channelName(c.Connection.Name, c.Number) != r.name {
			continue
		}
		if !monitors(r) && c.User != r.user.Name {
			fail(r.w, 401, "not_authorised", "User not authorised to access object")
			return
		}
		consumers, err := a.broker.Consumers(r.Context(), c.VHost)
		if err != nil {
			a.refuse(r, err)
			return
		}
		item := struct {
			channelItem
			ConsumerDetails []consumerItem `json:"consumer_details"`
			Publishes       []struct{}     `json:"publishes"`  // per exchange, which the broker does not count
			Deliveries      []struct{}     `json:"deliveries"` // per queue, likewise
		}{a.channelItem(c), []consumerItem{}, []struct{}{}, []struct{}{}}
		for j := range consumers {
			if k := &consumers[j]; k.Connection != nil && k.Connection.Name == c.Connection.Name && k.Channel == c.Number {
				item.ConsumerDetails = append(item.ConsumerDetails, a.consumerItem(k))
			}
		}
		one(r, item)
		return
	}
	notFound(r.w, r.Request)
}
