package supervision

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/admin"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

var _ admin.Broker = (*Node)(nil)

// describeTimeout is how long a queue may take to describe itself before it is
// shown as down.
const describeTimeout = 5 * time.Second

// SetPolicy implements admin.Broker.
func (n *Node) SetPolicy(ctx context.Context, p *policies.Policy) (replaced bool, err error) {
	r, err := ask[*mail.PolicyReply](ctx, n, n.registry, func(to *actor.PID) any {
		return &mail.SetPolicy{Request: mail.Request{ReplyTo: to}, Policy: p, Operator: p.Operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// ClearPolicy implements admin.Broker.
func (n *Node) ClearPolicy(ctx context.Context, vhost, name string, operator bool) (found bool, err error) {
	r, err := ask[*mail.PolicyReply](ctx, n, n.registry, func(to *actor.PID) any {
		return &mail.ClearPolicy{Request: mail.Request{ReplyTo: to}, VHost: vhost, Name: name, Operator: operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// ListPolicies implements admin.Broker.
func (n *Node) ListPolicies(ctx context.Context, vhost string, operator bool) ([]*policies.Policy, error) {
	r, err := ask[*mail.PolicyList](ctx, n, n.registry, func(to *actor.PID) any {
		return &mail.ListPolicies{Request: mail.Request{ReplyTo: to}, VHost: vhost, Operator: operator}
	})
	if err != nil {
		return nil, err
	}
	return r.Policies, r.Err
}

// VHosts implements admin.Broker.
func (n *Node) VHosts(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(*n.vhosts.Load())), nil
}

// Queues implements admin.Broker.
func (n *Node) Queues(ctx context.Context, vhost string) ([]admin.Queue, error) {
	var all []admin.Queue
	for _, name := range slices.Sorted(maps.Keys(*n.vhosts.Load())) {
		if vhost == "" || vhost == name {
			v, _ := n.VHost(name)
			list, err := n.describe(ctx, v, slices.Collect(v.Directory().Queues()))
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	return all, nil
}

// Queue implements admin.Broker.
func (n *Node) Queue(ctx context.Context, vhost, name string) (admin.Queue, error) {
	notFound := protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, vhost)
	v, ok := n.VHost(vhost)
	if !ok {
		return admin.Queue{}, notFound
	}
	q := v.Directory().Queue([]byte(name))
	if q == nil {
		return admin.Queue{}, notFound
	}
	list, err := n.describe(ctx, v, []*topology.Queue{q})
	if err != nil {
		return admin.Queue{}, err
	}
	if len(list) == 0 {
		return admin.Queue{}, notFound
	}
	return list[0], nil
}

// describe asks all queues at once. One that ended meanwhile is left out, one
// that does not answer is down.
func (n *Node) describe(ctx context.Context, v *topology.VHost, queues []*topology.Queue) ([]admin.Queue, error) {
	in := n.newInbox(len(queues))
	defer in.close()
	all := make([]admin.Queue, len(queues))
	for i, q := range queues {
		all[i] = admin.Queue{
			VHost: v.Name, Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete,
			Exclusive: q.Exclusive, Arguments: q.Arguments, State: "down",
		}
		n.post(q.PID, &mail.DescribeQueue{Request: mail.Request{ReplyTo: in.pid, ID: uint64(i)}})
	}
	wait, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	for range queues {
		r, err := in.next(wait)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			break
		}
		info := r.(*mail.QueueInfo)
		q := &all[info.ID]
		if info.Err != nil {
			q.State = "gone"
			continue
		}
		q.Ready, q.Unacked, q.ReadyBytes, q.Consumers = info.Ready, info.Unacked, info.ReadyBytes, info.Consumers
		q.Effective, q.State = info.Effective, "running"
	}
	return slices.DeleteFunc(all, func(q admin.Queue) bool { return q.State == "gone" }), nil
}

// Overview implements admin.Broker.
func (n *Node) Overview(ctx context.Context) (admin.Overview, error) {
	o := admin.Overview{Node: n.cfg.Name, ClusterName: n.cfg.Name, ProductVersion: n.cfg.ProductVersion, Listeners: n.listening()}
	queues, err := n.Queues(ctx, "")
	if err != nil {
		return o, err
	}
	for _, q := range queues {
		o.Ready, o.Unacked, o.Consumers = o.Ready+q.Ready, o.Unacked+q.Unacked, o.Consumers+q.Consumers
	}
	o.Queues = len(queues)
	for _, v := range *n.vhosts.Load() {
		o.Exchanges += v.Directory().ExchangeCount()
	}
	o.Connections, o.Channels, err = n.countConnections(ctx)
	return o, err
}

func (n *Node) countConnections(ctx context.Context) (connections, channels int, err error) {
	reply := make(chan []*actor.PID, 1)
	n.post(n.root, listConnections{reply})
	var pids []*actor.PID
	select {
	case pids = <-reply:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	in := n.newInbox(len(pids))
	defer in.close()
	for _, pid := range pids {
		n.post(pid, &mail.DescribeConnection{Request: mail.Request{ReplyTo: in.pid}})
	}
	for range pids {
		r, err := in.next(ctx)
		if err != nil {
			return 0, 0, err
		}
		if info := r.(*mail.ConnectionInfo); info.Err == nil {
			connections++
			channels += len(info.Channels)
		}
	}
	return connections, channels, nil
}

// Announce adds a listener that is not the node's own to what it shows.
func (n *Node) Announce(name string, at net.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announced = append(n.announced, listenerAt(name, at))
}

func (n *Node) listening() []admin.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.announced)
	for _, l := range n.listeners {
		list = append(list, listenerAt("amqp", l.Addr()))
	}
	slices.SortFunc(list, func(a, b admin.Listener) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Address, b.Address))
	})
	return list
}

func listenerAt(name string, at net.Addr) admin.Listener {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return admin.Listener{Protocol: name, Address: at.String()}
	}
	number, _ := strconv.Atoi(port)
	return admin.Listener{Protocol: name, Address: host, Port: number}
}
