package queries

import (
	"context"
	"slices"
	"strings"

	"candlemark/actors/system/mail"
	"candlemark/internal/admin/management"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// queuesOf are queues of a virtual host.
type queuesOf struct {
	*topology.VHost
	queues []*topology.Queue
}

// queuesWhere returns the wanted queues of a virtual host, or of all for "", without asking them.
func (qs *Queries) queuesWhere(vhost string, wanted func(*topology.Queue) bool) (list []queuesOf) {
	for _, v := range qs.cfg.VHosts.List(vhost) {
		of := queuesOf{VHost: v}
		for q := range v.Directory().AllListed() {
			if wanted(q) {
				of.queues = append(of.queues, q)
			}
		}
		list = append(list, of)
	}
	return list
}

// expiring returns the queues with expiring ready messages, and their number, without checking others.
func (qs *Queries) expiring(vhost string) (list []queuesOf, n int) {
	for _, v := range qs.cfg.VHosts.List(vhost) {
		of := queuesOf{VHost: v, queues: v.Expiring()}
		slices.SortFunc(of.queues, func(a, b *topology.Queue) int { return strings.Compare(a.Name, b.Name) })
		list, n = append(list, of), n+len(of.queues)
	}
	return list, n
}

// describeAll describes queues.
func (qs *Queries) describeAll(ctx context.Context, list []queuesOf) (all []management.Queue, err error) {
	for _, of := range list {
		some, _, err := qs.describe(ctx, of.VHost, of.queues, false)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Queues implements management.Broker.
func (qs *Queries) Queues(ctx context.Context, vhost string) ([]management.Queue, error) {
	return qs.describeAll(ctx, qs.queuesWhere(vhost, func(*topology.Queue) bool { return true }))
}

// QueueNames implements management.Broker.
func (qs *Queries) QueueNames(vhost string) (names []management.QueueSummary) {
	for _, v := range qs.cfg.VHosts.List(vhost) {
		d := v.Directory()
		names = slices.Grow(names, d.QueueCount())
		for q := range d.AllListed() {
			name := management.QueueSummary{
				VHost: v.Name, Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Ending: q.Ending != "", Arguments: q.Arguments,
			}
			if q.Stats != nil {
				name.Stats = &q.Stats.Stats
			}
			names = append(names, name)
		}
	}
	return names
}

// QueuesNamed implements management.Broker.
func (qs *Queries) QueuesNamed(ctx context.Context, names []management.QueueSummary) ([]management.Queue, error) {
	var list []queuesOf
	var in *topology.Directory
	for i, name := range names {
		if i == 0 || name.VHost != names[i-1].VHost {
			in = nil
			if v, there := qs.cfg.VHosts.Find(name.VHost); there {
				in, list = v.Directory(), append(list, queuesOf{VHost: v})
			}
		}
		if in == nil {
			continue
		}
		if q := in.Listed([]byte(name.Name)); q != nil {
			of := &list[len(list)-1]
			of.queues = append(of.queues, q)
		}
	}
	return qs.describeAll(ctx, list)
}

// Expiring implements management.Queues.
func (qs *Queries) Expiring(ctx context.Context, vhost string) ([]management.Queue, error) {
	list, _ := qs.expiring(vhost)
	return qs.describeAll(ctx, list)
}

// Leased implements management.Queues.
func (qs *Queries) Leased(ctx context.Context, vhost string) ([]management.Queue, error) {
	return qs.describeAll(ctx, qs.queuesWhere(vhost, func(q *topology.Queue) bool { return q.Stats.Leased() }))
}

// Due implements management.Monitoring.
func (qs *Queries) Due(ctx context.Context) (*management.ExpiryCounts, error) {
	queues, n := qs.expiring("")
	if n > management.MaxDue {
		return nil, nil
	}
	list, err := qs.describeAll(ctx, queues)
	var sum management.ExpiryCounts
	for i := range list {
		sum.Add(list[i].Expiring)
	}
	return &sum, err
}

// Queue implements management.Broker.
func (qs *Queries) Queue(ctx context.Context, vhost, name string) (management.Queue, error) {
	notFound := protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, vhost)
	v, ok := qs.cfg.VHosts.Find(vhost)
	if !ok {
		return management.Queue{}, notFound
	}
	q := v.Directory().Listed([]byte(name))
	if q == nil {
		return management.Queue{}, notFound
	}
	list, infos, err := qs.describe(ctx, v, []*topology.Queue{q}, true)
	if err != nil {
		return management.Queue{}, err
	}
	if len(list) == 0 {
		return management.Queue{}, notFound
	}
	list[0].Details, err = qs.details(ctx, v.Name, q, infos[0])
	return list[0], err
}

// details returns the details that a queue reports when it is asked alone; none if it is down.
func (qs *Queries) details(ctx context.Context, vhost string, q *topology.Queue, info *mail.QueueInfo) (*management.QueueDetails, error) {
	d := &management.QueueDetails{}
	if info == nil {
		return d, nil
	}
	if len(info.List) == 0 && q.Owner == nil {
		return d, nil
	}
	clients, err := owners(ctx, qs, func(yield func(mail.Address) bool) {
		if q.Owner == nil || yield(q.Owner) {
			channelsOf(info)(yield)
		}
	})
	if err != nil {
		return nil, err
	}
	d.Consumers = clients.consumers(vhost, q.Name, info)
	if q.Owner != nil {
		if owner := clients.byID[q.Owner.GetId()]; owner != nil {
			d.Owner = &owner.shown
		}
	}
	return d, nil
}

// describe asks all queues at once. A queue that has ended is left out; a queue that reports a failure or does not
// answer is down, without info.
func (qs *Queries) describe(ctx context.Context, v *topology.VHost, queues []*topology.Queue, consumers bool) ([]management.Queue, []*mail.QueueInfo, error) {
	infos := make([]*mail.QueueInfo, len(queues))
	err := qs.cfg.Asker.All(ctx, len(queues), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(queues[i].PID, &mail.DescribeQueue{Request: r, Consumers: consumers})
	}, func(answer any) {
		if info := answer.(*mail.QueueInfo); !info.Down {
			infos[info.ID] = info
		}
	})
	if err != nil {
		return nil, nil, err
	}
	all, found := make([]management.Queue, 0, len(queues)), infos[:0]
	for i, q := range queues {
		info := infos[i]
		if info != nil && info.Err != nil {
			continue
		}
		all = append(all, queueView(v.Name, q, info))
		found = append(found, info)
	}
	return all, found, nil
}

// queueView returns a queue as the API shows it; without info it is down.
func queueView(vhost string, q *topology.Queue, info *mail.QueueInfo) management.Queue {
	s := management.Queue{
		VHost: vhost, Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete,
		Exclusive: q.Exclusive, Arguments: q.Arguments, State: "down", DeliveryLimit: -1, Ending: q.Ending != "",
		CostlyRules: q.Stats.CostlyRules(),
	}
	if info == nil {
		return s
	}
	s.State, s.Effective, s.DeliveryLimit, s.Retry = "running", info.Effective, info.Settings.DeliveryLimit, info.Settings.Retry
	s.Figures = info.Figures
	s.ExclusiveTag, s.ActiveTag, s.HeadTimestamp = info.ExclusiveTag, info.ActiveTag, info.HeadTimestamp
	s.IdleSince, s.Counts = info.LastUse, countsShown(info.Counts)
	s.Expiring, s.Lease = management.ExpiryCounts(info.Expiring), management.Lease(info.Lease)
	s.OldestUnacked, s.OldestReady, s.OldestMessage = info.OldestUnacked, management.Oldest(info.OldestReady), management.Oldest(info.OldestMessage)
	s.Wait, s.Processing = info.Wait, info.Processing
	switch s.PausedUntil = info.PausedUntil; {
	case s.Ending:
		s.State = "ending"
	case info.Paused > 0:
		s.State = "paused"
	}
	s.NextAttempt, s.Scheduled = info.NextAttempt, management.ScheduledCounts(info.Scheduled)
	return s
}
