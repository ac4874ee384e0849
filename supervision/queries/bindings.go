package queries

import (
	"cmp"
	"context"
	"slices"

	"candlemark/internal/admin/management"
	"candlemark/internal/routing/topology"
)

// Bindings implements management.Topology. It reads the published routing tables and queries no actor.
func (qs *Queries) Bindings(_ context.Context, f management.BindingFilter) ([]management.Binding, error) {
	all := []management.Binding{}
	for _, v := range qs.cfg.VHosts.List(orAll(f.VHost)) {
		if f.VHost != nil && v.Name != *f.VHost {
			continue
		}
		d := v.Directory()
		if f.Source != nil {
			if x := d.Exchange([]byte(*f.Source)); x != nil {
				all = appendBindings(all, v.Name, d, x, f)
			}
			continue
		}
		for x := range d.Exchanges() {
			all = appendBindings(all, v.Name, d, x, f)
		}
	}
	slices.SortStableFunc(all, func(a, b management.Binding) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Source, b.Source), compareBool(b.ToExchange, a.ToExchange),
			cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.RoutingKey, b.RoutingKey))
	})
	return all, nil
}

func orAll(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// appendBindings appends the bindings of one exchange. The default exchange has
// none of its own: every queue is bound to it by its name (DEC-10).
func appendBindings(all []management.Binding, vhost string, d *topology.Directory, x *topology.Exchange, f management.BindingFilter) []management.Binding {
	if x.Name == "" {
		return appendDefaults(all, vhost, d, f)
	}
	bindings := x.Routes().Bindings()
	if f.Destination != nil && f.ToExchange != nil {
		bindings = x.Routes().BindingsTo(*f.Destination, *f.ToExchange)
	}
	for b := range bindings {
		if f.Destination != nil && b.Destination != *f.Destination || f.ToExchange != nil && b.ToExchange != *f.ToExchange {
			continue
		}
		if x.Name == topology.AdminExchange && b.Destination == topology.AdminExchange && !b.ToExchange {
			continue // the command actor is not a queue
		}
		all = append(all, management.Binding{
			VHost: vhost, Source: x.Name, Destination: b.Destination, ToExchange: b.ToExchange,
			RoutingKey: b.RoutingKey, Arguments: b.Arguments, FromTopic: x.Type == "topic", Locked: !b.ToExchange && locked(d, b.Destination),
		})
	}
	return all
}

// locked reports whether a queue belongs to a connection.
func locked(d *topology.Directory, name string) bool {
	q := d.Queue([]byte(name))
	return q != nil && q.Exclusive
}

func appendDefaults(all []management.Binding, vhost string, d *topology.Directory, f management.BindingFilter) []management.Binding {
	if f.ToExchange != nil && *f.ToExchange {
		return all
	}
	if f.Destination != nil {
		if d.Queue([]byte(*f.Destination)) != nil {
			all = append(all, management.Binding{VHost: vhost, Destination: *f.Destination, RoutingKey: *f.Destination})
		}
		return all
	}
	for q := range d.Queues() {
		all = append(all, management.Binding{VHost: vhost, Destination: q.Name, RoutingKey: q.Name})
	}
	return all
}
