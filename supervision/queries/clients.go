package queries

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// client is a connection that is open.
type client struct {
	pid      mail.Address
	shown    management.Connection
	channels []mail.ChannelLink
}

// clients are the open connections at one moment.
type clients struct {
	list []*client // by name
	byID map[string]*client
}

// clients asks the connections of a name, all for "", for their details: see ask.
func (qs *Queries) clients(ctx context.Context, name string) (*clients, error) {
	pids, err := qs.cfg.Connections(ctx, name)
	if err != nil {
		return nil, err
	}
	return askConnections(ctx, qs, pids)
}

// owners asks the connections of those channels.
func owners(ctx context.Context, qs *Queries, channels iter.Seq[mail.Address]) (*clients, error) {
	var pids []mail.Address
	known := map[string]bool{}
	for channel := range channels {
		if id := ownerOf(channel); id != "" && !known[id] {
			known[id] = true
			pids = append(pids, qs.cfg.Asker.System.NewLocalPID(id))
		}
	}
	return askConnections(ctx, qs, pids)
}

// askConnections asks connections for their details. Connections without a login, or still in their handshake, are left
// out. A connection that is closed is shown as closing while its socket is open.
func askConnections(ctx context.Context, qs *Queries, pids []mail.Address) (*clients, error) {
	all := &clients{byID: map[string]*client{}}
	err := qs.cfg.Asker.All(ctx, len(pids), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(pids[i], &mail.DescribeConnection{Request: r})
	}, func(answer any) {
		info := answer.(*mail.ConnectionInfo)
		if info.State == "closed" && info.User != "" {
			info.State = "closing"
		}
		if info.Err == nil && info.State != "starting" && info.State != "closed" {
			c := &client{pid: pids[info.ID], shown: connectionShown(info), channels: info.Channels}
			all.list = append(all.list, c)
			all.byID[c.pid.GetId()] = c
		}
	})
	slices.SortFunc(all.list, func(a, b *client) int {
		return cmp.Or(cmp.Compare(a.shown.Name, b.shown.Name), cmp.Compare(a.pid.GetId(), b.pid.GetId()))
	})
	return all, err
}

func connectionShown(info *mail.ConnectionInfo) management.Connection {
	return management.Connection{
		Name: info.Name, VHost: info.VHost, User: info.User, State: info.State, Protocol: info.Protocol, Mechanism: info.Mechanism,
		Host: info.Local.Host, Port: info.Local.Port, PeerHost: info.Peer.Host, PeerPort: info.Peer.Port,
		Channels: len(info.Channels), ChannelMax: int(info.ChannelMax), FrameMax: int(info.FrameMax), Heartbeat: int(info.Heartbeat),
		ConnectedAt: info.ConnectedAt, ClientProperties: info.ClientProperties, TLS: (*auth.TLSInfo)(info.TLS),
		BytesIn: info.Traffic.BytesIn, BytesOut: info.Traffic.BytesOut, Reads: info.Traffic.Reads, Writes: info.Traffic.Writes, Memory: info.Memory,
	}
}

// Connections implements management.Clients.
func (qs *Queries) Connections(ctx context.Context, name string) ([]management.Connection, error) {
	all, err := qs.clients(ctx, name)
	if err != nil {
		return nil, err
	}
	shown := make([]management.Connection, len(all.list))
	for i, c := range all.list {
		shown[i] = c.shown
	}
	return shown, nil
}

// CloseConnection implements management.Clients.
func (qs *Queries) CloseConnection(ctx context.Context, name, reason string) (found bool, err error) {
	return closeWhere(ctx, qs, name, reason, func(*management.Connection) bool { return true })
}

// CloseConnectionsOf implements management.Clients.
func (qs *Queries) CloseConnectionsOf(ctx context.Context, user, reason string) error {
	_, err := closeWhere(ctx, qs, "", reason, func(c *management.Connection) bool { return c.User == user })
	return err
}

// closeWhere closes the connections of a name, or of all names for "", for which those returns true.
func closeWhere(ctx context.Context, qs *Queries, name, reason string, those func(*management.Connection) bool) (found bool, err error) {
	all, err := qs.clients(ctx, name)
	if err != nil {
		return false, err
	}
	for _, c := range all.list {
		if those(&c.shown) {
			found = true
			qs.cfg.Asker.Post(c.pid, &mail.CloseConnection{Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "%s", reason)})
			qs.publish(ctx, events.OriginOf(ctx).Asked(), "connection.close.requested", c.shown.VHost, protocol.Table{
				{Key: "name", Value: c.shown.Name}, {Key: "user", Value: c.shown.User}, {Key: "vhost", Value: c.shown.VHost}, {Key: "reason", Value: reason},
			})
		}
	}
	return found, nil
}

// publish publishes the event of a user's request.
func (qs *Queries) publish(ctx context.Context, record events.Record, name, vhost string, fields protocol.Table) {
	by := events.OriginOf(ctx)
	qs.cfg.Events.Publish(record, func() *events.Event {
		return &events.Event{Name: name, VHost: vhost, By: by, Fields: fields}
	})
}

// publishScheduled publishes the event that messages of a place, which meet conditions, were dropped or moved. For AMQP clients
// such events are routine, like temporary declarations.
func (qs *Queries) publishScheduled(ctx context.Context, m *mail.ChangeScheduled, at management.Place, count int, conditions protocol.Table) {
	name := "scheduled.cancelled"
	if !m.Cancel {
		name, conditions = "scheduled.moved", append(conditions, protocol.Field{Key: "due_ms", Value: m.Due})
	}
	qs.publish(ctx, events.OriginOf(ctx).Declared(false), name, at.VHost, append(protocol.Table{
		{Key: "name", Value: at.Name},
		{Key: "vhost", Value: at.VHost},
		{Key: "exchange", Value: at.Exchange},
		{Key: "message_id", Value: m.MessageID},
		{Key: "messages", Value: int64(count)},
	}, conditions...))
}

// Channels implements management.Clients.
func (qs *Queries) Channels(ctx context.Context, connection string) ([]management.Channel, error) {
	all, err := qs.clients(ctx, connection)
	if err != nil {
		return nil, err
	}
	return describeChannels(ctx, qs, all, false)
}

// ChannelNumbered implements management.Clients.
func (qs *Queries) ChannelNumbered(ctx context.Context, connection string, number int) (c management.Channel, consumers []management.Consumer, found bool, err error) {
	all, err := qs.clients(ctx, connection)
	if err != nil {
		return c, nil, false, err
	}
	for _, of := range all.list {
		of.channels = slices.DeleteFunc(of.channels, func(l mail.ChannelLink) bool { return int(l.ID) != number })
	}
	list, err := describeChannels(ctx, qs, all, true)
	if err != nil || len(list) == 0 {
		return c, nil, false, err
	}
	c = list[0]
	consumers, err = consumersOf(ctx, qs, &c)
	consumers = slices.DeleteFunc(consumers, func(k management.Consumer) bool {
		return k.Connection == nil || k.Connection.Name != c.Connection.Name || k.Channel != number
	})
	return c, consumers, true, err
}

// consumersOf returns the consumers of the queues from which a channel gets messages.
func consumersOf(ctx context.Context, qs *Queries, c *management.Channel) ([]management.Consumer, error) {
	v, there := qs.cfg.VHosts.Find(c.VHost)
	if !there || len(c.Queues) == 0 {
		return nil, nil
	}
	var queues []*topology.Queue
	for _, name := range c.Queues {
		if q := v.Directory().Queue([]byte(name)); q != nil {
			queues = append(queues, q)
		}
	}
	return consumersIn(ctx, qs, v, queues)
}

// describeChannels asks all channels of the connections, also for their queues if that is wanted. Channels that end
// before they answer are left out.
func describeChannels(ctx context.Context, qs *Queries, all *clients, queues bool) ([]management.Channel, error) {
	var pids []mail.Address
	var owners []*client
	for _, c := range all.list {
		for _, l := range c.channels {
			pids, owners = append(pids, l.PID), append(owners, c)
		}
	}
	infos := make([]*mail.ChannelInfo, len(pids))
	err := qs.cfg.Asker.All(ctx, len(pids), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(pids[i], &mail.DescribeChannel{Request: r, Queues: queues})
	}, func(answer any) {
		info := answer.(*mail.ChannelInfo)
		infos[info.ID] = info
	})
	shown := make([]management.Channel, 0, len(pids))
	for i, info := range infos {
		if info == nil || info.Err != nil {
			continue
		}
		state := "running"
		if !info.Running {
			state = "closing"
		}
		shown = append(shown, management.Channel{
			Connection: &owners[i].shown, Number: int(info.Number), VHost: info.VHost, User: info.User, State: state,
			Confirm: info.Confirm, Prefetch: info.Prefetch, GlobalPrefetch: info.GlobalPrefetch,
			Consumers: info.Consumers, Unacked: info.Unacked, Unconfirmed: info.Unconfirmed, Counts: countsShown(info.Counts), Published: info.Published, Queues: info.Queues,
			Transactional: info.Transactional, Uncommitted: info.Uncommitted, AcksUncommitted: info.AcksUncommitted, IdleSince: info.LastUse, Session: sessionShown(info.Session),
		})
	}
	return shown, err
}

func sessionShown(info *mail.SessionInfo) *management.Session {
	if info == nil {
		return nil
	}
	s := &management.Session{
		HandleMax: info.HandleMax, NextIncomingID: info.NextIncomingID, IncomingWindow: info.IncomingWindow, NextOutgoingID: info.NextOutgoingID,
		RemoteIncomingWindow: info.RemoteIncomingWindow, Links: make([]management.Link, len(info.Links)),
	}
	for i, l := range info.Links {
		s.Links[i] = management.Link(l)
	}
	return s
}

// Consumers implements management.Clients.
func (qs *Queries) Consumers(ctx context.Context, vhost string) ([]management.Consumer, error) {
	var shown []management.Consumer
	for _, v := range qs.cfg.VHosts.List(vhost) {
		var queues []*topology.Queue
		for q := range v.Directory().Queues() {
			if q.Stats == nil || q.Stats.Get(queuestats.Consumers) > 0 {
				queues = append(queues, q)
			}
		}
		some, err := consumersIn(ctx, qs, v, queues)
		if err != nil {
			return nil, err
		}
		shown = append(shown, some...)
	}
	return shown, nil
}

// consumersIn asks queues for their consumers, and the connections of these.
func consumersIn(ctx context.Context, qs *Queries, v *topology.VHost, queues []*topology.Queue) (shown []management.Consumer, err error) {
	list, infos, err := qs.describe(ctx, v, queues, true)
	if err != nil {
		return nil, err
	}
	owners, err := owners(ctx, qs, channelsOf(infos...))
	if err != nil {
		return nil, err
	}
	for i, info := range infos {
		if info != nil {
			shown = append(shown, owners.consumers(v.Name, list[i].Name, info)...)
		}
	}
	return shown, nil
}

// channelsOf returns the channels of the consumers of queues. Some infos may be nil.
func channelsOf(infos ...*mail.QueueInfo) iter.Seq[mail.Address] {
	return func(yield func(mail.Address) bool) {
		for _, info := range infos {
			for i := 0; info != nil && i < len(info.List); i++ {
				if !yield(info.List[i].Channel) {
					return
				}
			}
		}
	}
}

// consumers returns the consumers of one queue.
func (all *clients) consumers(vhost, queue string, info *mail.QueueInfo) []management.Consumer {
	shown := make([]management.Consumer, len(info.List))
	for i, c := range info.List {
		shown[i] = management.Consumer{
			VHost: vhost, Queue: queue, Tag: c.Tag, NoAck: c.NoAck, Exclusive: c.Exclusive, Active: c.Active,
			Prefetch: c.Prefetch, Timeout: c.Timeout, Arguments: c.Arguments,
		}
		shown[i].Connection, shown[i].Channel = all.owner(c.Channel)
	}
	return shown
}
