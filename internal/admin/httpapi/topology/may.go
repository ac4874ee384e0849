package topology

import (
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// mayQueue names the things that the user may do with a queue. A queue that belongs to a connection is locked for all
// other users.
func mayQueue(r *rest.Request, q *management.Queue) rest.May {
	if !r.AsksMay() {
		return nil
	}
	in, may, free := rest.Rights{Request: r, VHost: q.VHost}, rest.May{}, !q.Exclusive
	publishes, reads := in.Has(auth.Exchange, "", auth.Write), free && in.Has(auth.Queue, q.Name, auth.Read)
	may.Add("publish", publishes)
	may.Add("read", reads)
	may.Add("purge", reads)
	may.Add("move", reads && in.Somewhere(auth.Write))
	may.Add("alter", reads && in.Alters(auth.Queue, q.Name))
	may.Add("delete", free && in.Has(auth.Queue, q.Name, auth.Configure))
	may.Add("policy", in.Policies())
	return may
}

// mayExchange is mayQueue for an exchange. Some exchanges are part of every virtual host.
func mayExchange(r *rest.Request, x *management.Exchange) rest.May {
	if !r.AsksMay() {
		return nil
	}
	in, may := rest.Rights{Request: r, VHost: x.VHost}, rest.May{}
	reads := in.Has(auth.Exchange, x.Name, auth.Read)
	may.Add("bind", !x.System && reads && in.Somewhere(auth.Write))
	may.Add("read", x.Delayed != nil && reads)
	may.Add("alter", x.Delayed != nil && reads && in.Alters(auth.Exchange, x.Name))
	may.Add("delete", !x.Permanent && in.Has(auth.Exchange, x.Name, auth.Configure))
	may.Add("policy", x.Name != "" && in.Policies())
	return may
}

// mayBinding is mayQueue for a binding.
func mayBinding(r *rest.Request, b *management.Binding) rest.May {
	if !r.AsksMay() {
		return nil
	}
	in, may, to := rest.Rights{Request: r, VHost: b.VHost}, rest.May{}, auth.Queue
	if b.ToExchange {
		to = auth.Exchange
	}
	may.Add("unbind", b.Source != "" && !b.Locked && in.Has(to, b.Destination, auth.Write) && in.Has(auth.Exchange, b.Source, auth.Read) &&
		(!b.FromTopic || in.ReadsTopic(b.Source, b.RoutingKey)))
	return may
}

// vhostItem names the things that the user may do in a virtual host.
type vhostItem struct {
	Name string   `json:"name"`
	May  rest.May `json:"may"`
}

// vhosts returns the virtual hosts that the user may see.
func vhosts(r *rest.Request) (any, error) {
	names, err := r.Broker.VHosts(r.Context())
	items := []vhostItem{}
	for _, name := range names {
		if r.Sees(name) {
			items = append(items, vhostItem{name, mayIn(rest.Rights{Request: r, VHost: name})})
		}
	}
	return items, err
}

// mayIn names the permissions that the user has for at least some names of objects.
func mayIn(in rest.Rights) rest.May {
	may := rest.May{}
	for _, perm := range []auth.Permission{auth.Configure, auth.Write, auth.Read} {
		may.Add(perm.String(), in.Somewhere(perm))
	}
	may.Add("policy", in.Policies())
	return may
}
