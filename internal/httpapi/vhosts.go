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
func (a *api) vhosts() resource[vhostItem] {
	return resource[vhostItem]{
		func(r *request) ([]vhostItem, error) {
			names, err := a.broker.VHosts(r.Context())
			if err != nil {
				return nil, err
			}
			items := []vhostItem{}
			for _, name := range names {
				if r.vhost != "" && name != r.vhost || !a.sees(r.user, name) {
					continue
				}
				item, err := a.describe(r, name)
				if err != nil {
					return nil, err
				}
				items = append(items, item)
			}
			return items, nil
		},
		func(i *vhostItem) string { return i.Name },
	}
}

func (a *api) describe(r *request, name string) (vhostItem, error) {
	v, _ := a.users.VHost(name)
	if v.Tags == nil {
		v.Tags = []string{}
	}
	kind := cmp.Or(v.DefaultQueueType, "classic")
	item := vhostItem{
		Name: name, Description: v.Description, Tags: v.Tags, DefaultQueueType: kind, Metadata: vhostMetadata{v.Description, v.Tags, kind},
		Tracing: v.Tracing, ClusterState: map[string]string{a.node: "running"},
	}
	queues, err := a.broker.Queues(r.Context(), name)
	for i := range queues {
		item.Ready += queues[i].Ready
		item.Unacked += queues[i].Unacked
	}
	item.Messages = item.Ready + item.Unacked
	return item, err
}

// putVHost creates one, in which whoever did may do everything, or describes one
// anew.
func (a *api) putVHost(r *request) (bool, error) {
	b, err := r.body(maxBody)
	if err != nil {
		return false, err
	}
	before, known := a.users.VHost(r.vhost)
	before.Name = r.vhost
	v := b.vhost(before)
	if b.err != nil {
		return false, b.err
	}
	created, err := a.broker.PutVHost(r.Context(), v)
	if err == nil && created {
		_, err = a.users.PutGrant(auth.Grant{User: r.user.Name, VHost: v.Name, Configure: ".*", Write: ".*", Read: ".*"})
	}
	return created && !known, err
}

// vhost reads what becomes of a virtual host. Without a default queue type
// and tracing it keeps those that it has; its description and tags go.
func (b *body) vhost(before auth.VHost) auth.VHost {
	v := auth.VHost{Name: before.Name, DefaultQueueType: before.DefaultQueueType, Tracing: before.Tracing}
	if b.has("tracing") {
		v.Tracing = b.flag("tracing")
	}
	for _, key := range []string{"defaultqueuetype", "default_queue_type"} { // the first is RabbitMQ 3.11's
		if wanted := b.text(key); wanted != "" && wanted != "undefined" {
			v.DefaultQueueType = wanted
		}
	}
	v.Description, v.Tags = b.text("description"), b.tags("tags")
	b.fail(invalid(v.Validate()))
	return v
}

func (a *api) deleteVHost(r *request) (bool, error) {
	return a.broker.DeleteVHost(r.Context(), r.vhost)
}
