package accounts

import (
	"cmp"
	"errors"
	"net/http"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// vhostItem is the JSON form of a virtual host.
type vhostItem struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Tags             []string          `json:"tags"`
	DefaultQueueType string            `json:"default_queue_type"`
	Metadata         vhostMetadata     `json:"metadata"`
	Protected        bool              `json:"protected_from_deletion"`
	Stats            forms.Stats       `json:"message_stats"`
	Messages         int               `json:"messages"`
	MessagesRate     forms.Rate        `json:"messages_details"`
	Ready            int               `json:"messages_ready"`
	ReadyRate        forms.Rate        `json:"messages_ready_details"`
	Unacked          int               `json:"messages_unacknowledged"`
	UnackedRate      forms.Rate        `json:"messages_unacknowledged_details"`
	Scheduled        int               `json:"messages_scheduled"` // also in delayed exchanges
	BytesIn          uint64            `json:"recv_oct"`
	BytesInRate      forms.Rate        `json:"recv_oct_details"`
	BytesOut         uint64            `json:"send_oct"`
	BytesOutRate     forms.Rate        `json:"send_oct_details"`
	Tracing          bool              `json:"tracing"`
	ClusterState     map[string]string `json:"cluster_state"` // by node
}

type vhostMetadata struct {
	Description      string   `json:"description"`
	Tags             []string `json:"tags"`
	DefaultQueueType string   `json:"default_queue_type"`
	Protected        bool     `json:"protected_from_deletion,omitempty"`
}

// vhosts are the virtual hosts that the user may see, or the one named in the path.
var vhosts = rest.Resource[vhostItem]{
	Items: func(r *rest.Request) ([]vhostItem, error) {
		names, err := r.Broker.VHosts(r.Context())
		if err != nil {
			return nil, err
		}
		o, err := r.Broker.Overview(r.Context())
		if err != nil {
			return nil, err
		}
		items := []vhostItem{}
		for _, name := range names {
			if r.VHost != "" && name != r.VHost || !r.Sees(name) {
				continue
			}
			item, err := describe(r, name, o.VHosts[name])
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	},
	Name: func(i *vhostItem) string { return i.Name },
}

func describe(r *rest.Request, name string, t management.Traffic) (vhostItem, error) {
	v, _ := r.Users.VHost(name)
	if v.Tags == nil {
		v.Tags = []string{}
	}
	kind := cmp.Or(v.DefaultQueueType, "classic")
	item := vhostItem{
		Name: name, Description: v.Description, Tags: v.Tags, DefaultQueueType: kind, Metadata: vhostMetadata{v.Description, v.Tags, kind, v.Protected}, Protected: v.Protected,
		Tracing: v.Tracing, ClusterState: map[string]string{r.Node: "running"},
	}
	queues, err := r.Broker.Queues(r.Context(), name)
	for i := range queues {
		item.Ready += queues[i].Ready
		item.Unacked += queues[i].Unacked
		item.Scheduled += queues[i].Scheduled.Count
	}
	item.Scheduled += t.Held
	item.Messages = item.Ready + item.Unacked
	f := r.Rates.Lengths("vhost "+name, float64(item.Messages), float64(item.Ready), float64(item.Unacked))
	item.MessagesRate, item.ReadyRate, item.UnackedRate = f[0], f[1], f[2]
	f = r.Rates.Data("traffic "+name, float64(t.BytesIn), float64(t.BytesOut))
	item.BytesIn, item.BytesInRate, item.BytesOut, item.BytesOutRate = t.BytesIn, f[0], t.BytesOut, f[1]
	item.Stats = r.Rates.Stats("vhost "+name, t.Counts)
	return item, err
}

// putVHost creates a virtual host, where its creator gets all permissions, or updates one.
func putVHost(r *rest.Request) (bool, error) {
	b := r.JSON()
	before, known := r.Users.VHost(r.VHost)
	before.Name = r.VHost
	v := vhostOf(b, before)
	if b.Err != nil {
		return false, b.Err
	}
	created, err := r.Broker.PutVHost(r.Context(), v)
	if full := auth.TooManyVHosts(""); errors.As(err, &full) {
		err = rest.Complaint(full.Error())
	}
	if err == nil && created {
		_, err = r.Users.PutGrant(auth.Grant{User: r.User.Name, VHost: v.Name, Configure: ".*", Write: ".*", Read: ".*"})
	}
	return created && !known, err
}

// vhostOf reads the new state of a virtual host. It keeps its protection, and its default queue type and tracing if
// these are absent; absent description and tags are removed.
func vhostOf(b *rest.Body, before auth.VHost) auth.VHost {
	v := auth.VHost{Name: before.Name, DefaultQueueType: before.DefaultQueueType, Tracing: before.Tracing, Protected: before.Protected}
	if b.Has("tracing") {
		v.Tracing = b.Flag("tracing")
	}
	for _, key := range []string{"defaultqueuetype", "default_queue_type"} { // the first is RabbitMQ 3.11's
		if wanted := b.Text(key); wanted != "" && wanted != "undefined" {
			v.DefaultQueueType = wanted
		}
	}
	v.Description, v.Tags = b.Text("description"), b.Tags()
	b.Fail(rest.Invalid(v.Validate()))
	return v
}

func deleteVHost(r *rest.Request) (bool, error) {
	found, err := r.Broker.DeleteVHost(r.Context(), r.VHost)
	if errors.Is(err, auth.ErrProtected) {
		err = rest.Refuse(http.StatusPreconditionFailed, "precondition_failed", "Refusing to delete virtual host '"+r.VHost+"' because it is protected from deletion")
	}
	return found, err
}

// protect reports whether the virtual host may not be deleted.
func protect(protected bool) rest.Handler {
	return func(r *rest.Request) (any, error) {
		v, _ := r.Users.VHost(r.VHost)
		v.Name, v.Protected = r.VHost, protected
		_, err := r.Broker.PutVHost(r.Context(), v)
		return nil, err
	}
}

// startVHost does nothing: in RabbitMQ it starts a virtual host on a node, but here all are running.
func startVHost(r *rest.Request) (any, error) {
	if r.Name != r.Node {
		return nil, rest.Complaint("Unknown node: " + r.Name)
	}
	return nil, nil
}
