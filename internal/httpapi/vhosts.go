package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

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

func (a *api) vhostPaths(mux *http.ServeMux) {
	mux.Handle("/api/vhosts", methods{"GET": a.guard(anybody, a.vhosts)})
	mux.Handle("/api/vhosts/{vhost}", methods{
		"GET":    a.guard(administrator, a.vhost),
		"PUT":    a.guard(administrator, a.putVHost),
		"DELETE": a.guard(administrator, a.deleteVHost),
	})
}

// vhosts lists those that the user may see.
func (a *api) vhosts(r *request) {
	names, err := a.broker.VHosts(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := []vhostItem{}
	for _, name := range names {
		if !a.sees(r.user, name) {
			continue
		}
		item, err := a.describe(r, name)
		if err != nil {
			a.refuse(r, err)
			return
		}
		items = append(items, item)
	}
	list(r, items, func(i *vhostItem) string { return i.Name })
}

func (a *api) vhost(r *request) {
	if !a.exists(r) {
		return
	}
	item, err := a.describe(r, r.vhost)
	if err != nil {
		a.refuse(r, err)
		return
	}
	one(r, item)
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
func (a *api) putVHost(r *request) {
	body, ok := r.body(maxBody)
	if !ok {
		return
	}
	before, known := a.users.VHost(r.vhost)
	before.Name = r.vhost
	v, err := parseVHost(before, body)
	if bad(r, err) {
		return
	}
	created, err := a.broker.PutVHost(r.Context(), v)
	if err == nil && created {
		_, err = a.users.PutGrant(auth.Grant{User: r.user.Name, VHost: v.Name, Configure: ".*", Write: ".*", Read: ".*"})
	}
	if err != nil {
		a.refuse(r, err)
		return
	}
	r.stored(created && !known)
}

// parseVHost reads what becomes of a virtual host. Without a default queue type
// and tracing it keeps those that it has; its description and tags go.
func parseVHost(before auth.VHost, body map[string]json.RawMessage) (auth.VHost, error) {
	v := auth.VHost{Name: before.Name, DefaultQueueType: before.DefaultQueueType, Tracing: before.Tracing}
	if body["tracing"] != nil {
		var err error
		if v.Tracing, err = flag(body, "tracing"); err != nil {
			return v, err
		}
	}
	description, errDescription := text(body, "description")
	labels, errTags := tags(body, "tags")
	for _, key := range []string{"defaultqueuetype", "default_queue_type"} { // the first is RabbitMQ 3.11's
		wanted, err := text(body, key)
		switch {
		case err != nil:
			return v, err
		case wanted != "" && wanted != "undefined":
			v.DefaultQueueType = wanted
		}
	}
	v.Description, v.Tags = description, labels
	return v, errors.Join(errDescription, errTags, v.Validate())
}

func (a *api) deleteVHost(r *request) {
	switch found, err := a.broker.DeleteVHost(r.Context(), r.vhost); {
	case err != nil:
		a.refuse(r, err)
	case found:
		r.w.WriteHeader(http.StatusNoContent)
	default:
		notFound(r.w, r.Request)
	}
}
