package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"candlemark/internal/measure/clock"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/protocol"
)

// fake is a broker in memory; methods that it does not implement panic.
type fake struct {
	management.Broker
	sets    map[string]*policies.Policies // by vhost
	queues  []management.Queue
	users   *auth.Users
	globals map[string]json.RawMessage
	err     error // of every method, if set

	parameters []parameters.Parameter
	shovels    []management.Shovel
	restarted  string
}

func newFake(vhosts ...string) *fake {
	f := &fake{sets: map[string]*policies.Policies{}, globals: map[string]json.RawMessage{}}
	for _, v := range vhosts {
		f.sets[v] = policies.NewSet(v)
	}
	return f
}

func (f *fake) Unread() *budget.Unread { return nil }

func (f *fake) NodeName() string { return "candlemark@here" }

// Events returns nil: there are no listeners, and nothing is recorded.
func (f *fake) Events() *events.Hub { return nil }

func (f *fake) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

func (f *fake) SetPolicy(_ context.Context, p *policies.Policy) (bool, error) {
	set := f.sets[p.VHost]
	found := set.Lookup(p.Operator, p.Name) != nil
	f.sets[p.VHost] = set.With(p)
	return found, f.err
}

func (f *fake) ClearPolicy(_ context.Context, vhost, name string, operator bool) (bool, error) {
	set := f.sets[vhost]
	if set == nil {
		return false, f.err
	}
	f.sets[vhost] = set.Without(operator, name)
	return f.sets[vhost] != set, f.err
}

func (f *fake) ListPolicies(_ context.Context, vhost string, operator bool) ([]*policies.Policy, error) {
	var list []*policies.Policy
	for name, set := range f.sets {
		if vhost == "" || vhost == name {
			list = append(list, set.Policies(operator)...)
		}
	}
	slices.SortStableFunc(list, func(a, b *policies.Policy) int {
		x, _ := a.Priority.Int64()
		y, _ := b.Priority.Int64()
		return cmp.Compare(x, y)
	})
	return list, f.err
}

func (f *fake) VHosts(context.Context) ([]string, error) {
	var names []string
	for name := range f.sets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, f.err
}

func (f *fake) Globals() map[string]json.RawMessage { return f.globals }

func (f *fake) PutGlobal(_ context.Context, name string, value json.RawMessage) (bool, error) {
	created := f.globals[name] == nil
	f.globals[name] = value
	return created, f.err
}

func (f *fake) DeleteGlobal(_ context.Context, name string) (bool, error) {
	found := f.globals[name] != nil
	delete(f.globals, name)
	return found, f.err
}

func (f *fake) Parameters(vhost string) []parameters.Parameter {
	return slices.DeleteFunc(slices.Clone(f.parameters), func(p parameters.Parameter) bool { return vhost != "" && p.VHost != vhost })
}

func (f *fake) PutParameter(_ context.Context, p parameters.Parameter) (bool, error) {
	found, _ := f.DeleteParameter(context.Background(), p)
	f.parameters = append(f.parameters, p)
	return !found, f.err
}

func (f *fake) DeleteParameter(_ context.Context, p parameters.Parameter) (bool, error) {
	before := len(f.parameters)
	f.parameters = slices.DeleteFunc(f.parameters, func(q parameters.Parameter) bool {
		return q.VHost == p.VHost && q.Component == p.Component && q.Name == p.Name
	})
	return len(f.parameters) < before, f.err
}

func (f *fake) ListShovels(vhost string) []management.Shovel {
	return slices.DeleteFunc(slices.Clone(f.shovels), func(s management.Shovel) bool { return vhost != "" && s.VHost != vhost })
}

func (f *fake) RestartShovel(_ context.Context, vhost, name string) (bool, error) {
	f.restarted = vhost + " " + name
	return slices.ContainsFunc(f.shovels, func(s management.Shovel) bool { return s.VHost == vhost && s.Name == name }), f.err
}

func (f *fake) PutVHost(_ context.Context, v auth.VHost) (bool, error) {
	if f.sets[v.Name] == nil {
		f.sets[v.Name] = policies.NewSet(v.Name)
	}
	return cmp.Or(f.users, users).PutVHost(v)
}

func (f *fake) DeleteVHost(_ context.Context, name string) (bool, error) {
	err := cmp.Or(f.users, users).DeleteVHost(name)
	if errors.Is(err, auth.ErrProtected) {
		return false, err
	}
	delete(f.sets, name)
	return err == nil, f.err
}

func (f *fake) SchedulesOf(string) int { return 0 }

func (f *fake) DeleteUser(_ context.Context, name string) (bool, error) {
	return cmp.Or(f.users, users).DeleteAccount(name) == nil, f.err
}

func (f *fake) Queues(_ context.Context, vhost string) ([]management.Queue, error) {
	list := slices.Clone(f.queues)
	return slices.DeleteFunc(list, func(q management.Queue) bool { return vhost != "" && q.VHost != vhost }), f.err
}

func (f *fake) QueueNames(vhost string) (names []management.QueueSummary) {
	list, _ := f.Queues(context.Background(), vhost)
	for _, q := range list {
		names = append(names, management.QueueSummary{
			VHost: q.VHost, Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Stats: statsOf(&q),
		})
	}
	return names
}

// statsOf returns the figures that a queue would have reported for lists.
func statsOf(q *management.Queue) *queuestats.Stats {
	f, v := new(queuestats.Stats), queuestats.Values{
		queuestats.Ready: int64(q.Ready), queuestats.Unacked: int64(q.Unacked), queuestats.ReadyBytes: q.ReadyBytes, queuestats.UnackedBytes: q.UnackedBytes,
		queuestats.Persistent: int64(q.Persistent), queuestats.PersistentBytes: q.PersistentBytes, queuestats.Memory: q.Memory, queuestats.Consumers: int64(q.Consumers),
		queuestats.Scheduled: int64(q.Scheduled.Count), queuestats.Expiring: int64(q.Expiring.Count), queuestats.LeaseEnds: q.Lease.Ends,
	}
	if q.State == "running" {
		v[queuestats.Running] = 1
	}
	f.Set(&v)
	f.SetPolicies(&policies.Policy{Name: q.Effective.Policy}, &policies.Policy{Name: q.Effective.OperatorPolicy})
	return f
}

func (f *fake) QueuesNamed(_ context.Context, names []management.QueueSummary) (list []management.Queue, err error) {
	for _, q := range f.queues {
		if slices.ContainsFunc(names, func(n management.QueueSummary) bool { return n.VHost == q.VHost && n.Name == q.Name }) {
			list = append(list, q)
		}
	}
	return list, f.err
}

func (f *fake) Queue(_ context.Context, vhost, name string) (management.Queue, error) {
	for _, q := range f.queues {
		if q.VHost == vhost && q.Name == name {
			return q, f.err
		}
	}
	return management.Queue{}, cmp.Or(f.err, error(protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, vhost)))
}

func (f *fake) Overview(context.Context) (management.Overview, error) {
	return management.Overview{
		Node: "candlemark@here", ClusterName: "candle", ProductVersion: "0.1.0",
		Listeners:   []management.Listener{{Protocol: "amqp", Address: "127.0.0.1", Port: 5672}},
		Connections: 1, Channels: 2, Consumers: 3, Exchanges: 8, Queues: 5, Ready: 7, Unacked: 10,
	}, f.err
}

var errBroken = errors.New("the policy registry failed")

// refusal is the body of every refused request.
type refusal struct {
	Error  string `json:"error"`
	Reason any    `json:"reason"`
}

func (*fake) Clock() *clock.Clock { return clock.NewManual(time.UnixMilli(1 << 45)) }

func (*fake) ClusterState() management.ClusterState { return management.ClusterState{} }
