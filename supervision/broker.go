package supervision

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"
	"strconv"

	"candlemark/actors/mail"
	"candlemark/internal/httpapi"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
)

var _ httpapi.Broker = (*Node)(nil)

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

// Announce adds a listener that is not the node's own to what it shows.
func (n *Node) Announce(name string, at net.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announced = append(n.announced, listenerAt(name, at))
}

func (n *Node) listening() []httpapi.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.announced)
	for _, l := range n.listeners {
		secure, ok := l.(*secureListener)
		if !ok {
			list = append(list, listenerAt("amqp", l.Addr()))
			continue
		}
		at := listenerAt("amqp/ssl", l.Addr())
		at.Expires = secure.expires()
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b httpapi.Listener) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Address, b.Address))
	})
	return list
}

func listenerAt(name string, at net.Addr) httpapi.Listener {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return httpapi.Listener{Protocol: name, Address: at.String()}
	}
	number, _ := strconv.Atoi(port)
	return httpapi.Listener{Protocol: name, Address: host, Port: number}
}
