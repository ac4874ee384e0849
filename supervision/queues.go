package supervision

import (
	"context"
	"maps"
	"slices"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/httpapi"
	"candlemark/internal/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// describeTimeout is how long anybody may take to describe itself before it is
// shown as down, or left out.
const describeTimeout = 5 * time.Second

// consumerTimeout is what is shown of a consumer whose queue sets none, in ms.
const consumerTimeout = 30 * 60 * 1000

// Queues implements admin.Broker.
func (n *Node) Queues(ctx context.Context, vhost string) ([]httpapi.Queue, error) {
	var all []httpapi.Queue
	for _, v := range n.chosen(vhost) {
		list, _, err := n.describe(ctx, v, slices.Collect(v.Directory().Queues()), false)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// chosen are the virtual hosts of that name, all for "", sorted.
func (n *Node) chosen(vhost string) []*topology.VHost {
	all := *n.vhosts.Load()
	var chosen []*topology.VHost
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if vhost == "" || vhost == name {
			chosen = append(chosen, all[name])
		}
	}
	return chosen
}

// Queue implements admin.Broker.
func (n *Node) Queue(ctx context.Context, vhost, name string) (httpapi.Queue, error) {
	notFound := protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, vhost)
	v, ok := n.VHost(vhost)
	if !ok {
		return httpapi.Queue{}, notFound
	}
	q := v.Directory().Queue([]byte(name))
	if q == nil {
		return httpapi.Queue{}, notFound
	}
	list, infos, err := n.describe(ctx, v, []*topology.Queue{q}, true)
	if err != nil {
		return httpapi.Queue{}, err
	}
	if len(list) == 0 {
		return httpapi.Queue{}, notFound
	}
	list[0].Details, err = n.details(ctx, v.Name, q, infos[0])
	return list[0], err
}

// details are what a queue says of itself when it is asked alone. A queue that
// is down says nothing.
func (n *Node) details(ctx context.Context, vhost string, q *topology.Queue, info *mail.QueueInfo) (*httpapi.QueueDetails, error) {
	d := &httpapi.QueueDetails{}
	if info == nil {
		return d, nil
	}
	d.ExclusiveTag, d.HeadTimestamp = info.ExclusiveTag, info.HeadTimestamp
	if len(info.List) == 0 && q.Owner == nil {
		return d, nil
	}
	clients, err := n.clients(ctx)
	if err != nil {
		return nil, err
	}
	d.Consumers = clients.consumers(vhost, q.Name, info)
	if info.Settings.SingleActiveConsumer {
		for _, c := range d.Consumers {
			if c.Active {
				d.ActiveTag = c.Tag
			}
		}
	}
	if q.Owner != nil {
		if owner := clients.byID[q.Owner.Id]; owner != nil {
			d.Owner = &owner.shown
		}
	}
	return d, nil
}

// describe asks all queues at once. One that ended meanwhile is left out, one
// that says so or does not answer is down, without info.
func (n *Node) describe(ctx context.Context, v *topology.VHost, queues []*topology.Queue, consumers bool) ([]httpapi.Queue, []*mail.QueueInfo, error) {
	infos := make([]*mail.QueueInfo, len(queues))
	err := n.askAll(ctx, len(queues), func(i int, r mail.Request) {
		n.post(queues[i].PID, &mail.DescribeQueue{Request: r, Consumers: consumers})
	}, func(answer any) {
		if info := answer.(*mail.QueueInfo); !info.Down {
			infos[info.ID] = info
		}
	})
	if err != nil {
		return nil, nil, err
	}
	all, found := make([]httpapi.Queue, 0, len(queues)), infos[:0]
	for i, q := range queues {
		info := infos[i]
		if info != nil && info.Err != nil {
			continue
		}
		all = append(all, shown(v.Name, q, info))
		found = append(found, info)
	}
	return all, found, nil
}

// shown is a queue as the API shows it; without info it is down.
func shown(vhost string, q *topology.Queue, info *mail.QueueInfo) httpapi.Queue {
	s := httpapi.Queue{
		VHost: vhost, Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete,
		Exclusive: q.Exclusive, Arguments: q.Arguments, State: "down", DeliveryLimit: -1,
	}
	if info == nil {
		return s
	}
	s.State, s.Effective, s.DeliveryLimit = "running", info.Effective, info.Settings.DeliveryLimit
	s.Ready, s.Unacked, s.Consumers = info.Ready, info.Unacked, info.Consumers
	s.ReadyBytes, s.UnackedBytes, s.Memory = info.ReadyBytes, info.UnackedBytes, info.Memory
	s.IdleSince, s.Counts = info.LastUse, countsShown(info.Counts)
	s.TimedOut, s.Late, s.Scheduled = info.Counts.TimedOut, info.Counts.Late, httpapi.ScheduledCounts(info.Scheduled)
	return s
}

// askAll asks count questions at once and gives every answer to take, for as
// long as describeTimeout; who has not answered by then is not waited for.
func (n *Node) askAll(ctx context.Context, count int, ask func(i int, r mail.Request), take func(answer any)) error {
	in := n.newInbox(count)
	defer in.close()
	for i := range count {
		ask(i, mail.Request{ReplyTo: in.pid, ID: uint64(i)})
	}
	wait, cancel := n.clock.WithTimeout(ctx, describeTimeout)
	defer cancel()
	for range count {
		answer, err := in.next(wait)
		if err != nil {
			return ctx.Err() // nil: only the wait is over
		}
		take(answer)
	}
	return nil
}

// connections are the PIDs of all connections.
func (n *Node) connections(ctx context.Context) ([]*actor.PID, error) {
	reply := make(chan []*actor.PID, 1)
	n.post(n.root, listConnections{reply})
	select {
	case pids := <-reply:
		return pids, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
