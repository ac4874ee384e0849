package httpapi

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

func channelForm(r *request, c *Channel) channelItem {
	name := channelName(c.Connection.Name, c.Number)
	return channelItem{
		Confirm: c.Confirm, Connection: connectionLink{c.Connection.Name, c.Connection.PeerHost, c.Connection.PeerPort},
		Consumers: c.Consumers, GlobalPrefetch: c.GlobalPrefetch, Stats: r.rates.stats("channel "+name, c.Counts),
		Unacked: c.Unacked, Unconfirmed: c.Unconfirmed, Name: name, Node: r.node, Number: c.Number, Prefetch: c.Prefetch,
		AcksUncommitted: c.AcksUncommitted, Uncommitted: c.Uncommitted, Transactional: c.Transactional,
		State: c.State, User: c.User, Doer: c.User, VHost: c.VHost,
	}
}

// channels lists those of the path's virtual host, or of all.
func channels(r *request) (any, error) {
	return listChannels(r, func(c *Channel) bool { return r.vhost == "" || c.VHost == r.vhost })
}

// listChannels answers with those that are wanted. Who is no monitor sees its
// own.
func listChannels(r *request, wanted func(*Channel) bool) (any, error) {
	all, err := r.broker.Channels(r.Context())
	visible := func(c *Channel) bool { return wanted(c) && r.ownsChannel(c) }
	return listForms(r, all, err, visible, func(c *Channel) channelItem { return channelForm(r, c) }, func(c *channelItem) string { return c.Name })
}

// channel describes one, with its consumers.
func channel(r *request) (any, error) {
	all, err := r.broker.Channels(r.Context())
	c, err := find(all, err, func(c *Channel) bool { return channelName(c.Connection.Name, c.Number) == r.name })
	if err == nil && !r.ownsChannel(c) {
		err = errNotAuthorised
	}
	if err != nil {
		return nil, err
	}
	consumers, err := r.broker.Consumers(r.Context(), c.VHost)
	return one(r, struct {
		channelItem
		ConsumerDetails []consumerItem `json:"consumer_details"`
		Publishes       []struct{}     `json:"publishes"`  // per exchange, which the broker does not count
		Deliveries      []struct{}     `json:"deliveries"` // per queue, likewise
	}{channelForm(r, c), forms(consumers, func(k *Consumer) bool {
		return k.Connection != nil && k.Connection.Name == c.Connection.Name && k.Channel == c.Number
	}, consumerForm(r.node)), []struct{}{}, []struct{}{}}), err
}
