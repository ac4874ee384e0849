package httpapi

import (
	"cmp"

	"candlemark/internal/auth"
)

// vhostItem is the JSON form of a virtual host.
type vhostItem struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Tags             []string          `json:"tags"`
	DefaultQueueType string            `json:"default_queue_type"`
	Metadata         vhostMetadata     `json:"metadata"`
	Messages         int               `json:"messages"`
	Ready            int               `json:"messages_ready"`
	Unacked          int               `json:"messages_unacknowledged"`
	Tracing          bool              `json:"tracing"`
	ClusterState     map[string]string `json:"cluster_state"` // by node
}

type vhostMetadata struct {
	Description      string   `json:"description"`
	Tags             []string `json:"tags"`
	DefaultQueueType string   `json:"default_queue_type"`
}

// vhosts are those that the user may see, or the one that the path names.
var vhosts = resource[vhostItem]{
	func(r *request) ([]vhostItem, error) {
		names, err := r.broker.VHosts(r.Context())
		if err != nil {
			return nil, err
		}
		items := []vhostItem{}
		for _, name := range names {
			if r.vhost != "" && name != r.vhost || !r.sees(name) {
				continue
			}
			item, err := describe(r, name)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	},
	func(i *vhostItem) string { return i.Name },
}

func describe(r *request, name string) (vhostItem, error) {
	v, _ := r.users.VHost(name)
	if v.Tags == nil {
		v.Tags = []string{}
	}
	kind := cmp.Or(v.DefaultQueueType, "classic")
	item := vhostItem{
		Name: name, Description: v.Description, Tags: v.Tags, DefaultQueueType: kind, Metadata: vhostMetadata{v.Description, v.Tags, kind},
		Tracing: v.Tracing, ClusterState: map[string]string{r.node: "running"},
	}
	queues, err := r.broker.Queues(r.Context(), name)
	for i := range queues {
		item.Ready += queues[i].Ready
		item.Unacked += queues[i].Unacked
	}
	item.Messages = item.Ready + item.Unacked
	return item, err
}

// putVHost creates one, in which whoever did may do everything, or describes one
// anew.
func putVHost(r *request) (bool, error) {
	b, err := r.json()
	if err != nil {
		return false, err
	}
	before, known := r.users.VHost(r.vhost)
	before.Name = r.vhost
	v := vhostOf(b, before)
	if b.err != nil {
		return false, b.err
	}
	created, err := r.broker.PutVHost(r.Context(), v)
	if err == nil && created {
		_, err = r.users.PutGrant(auth.Grant{User: r.user.Name, VHost: v.Name, Configure: ".*", Write: ".*", Read: ".*"})
	}
	return created && !known, err
}

// vhostOf reads what becomes of a virtual host. Without a default queue type
// and tracing it keeps those that it has; its description and tags go.
func vhostOf(b *body, before auth.VHost) auth.VHost {
	v := auth.VHost{Name: before.Name, DefaultQueueType: before.DefaultQueueType, Tracing: before.Tracing}
	if b.has("tracing") {
		v.Tracing = b.flag("tracing")
	}
	for _, key := range []string{"defaultqueuetype", "default_queue_type"} { // the first is RabbitMQ 3.11's
		if wanted := b.text(key); wanted != "" && wanted != "undefined" {
			v.DefaultQueueType = wanted
		}
	}
	v.Description, v.Tags = b.text("description"), tagsOf(b)
	b.fail(invalid(v.Validate()))
	return v
}

func deleteVHost(r *request) (bool, error) {
	return r.broker.DeleteVHost(r.Context(), r.vhost)
}
