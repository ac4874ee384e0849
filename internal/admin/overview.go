package admin

import (
	"net/http"
	"slices"
)

// rabbitVersion is the level of RabbitMQ that the broker follows; clients branch
// on it (DESIGN §9).
const rabbitVersion = "4.0.5"

// overviewItem is the JSON form of the whole broker. There are no rates: the
// broker keeps no history, and says so with disable_stats.
type overviewItem struct {
	ManagementVersion    string         `json:"management_version"`
	RatesMode            string         `json:"rates_mode"`
	ExchangeTypes        []exchangeType `json:"exchange_types"`
	ProductVersion       string         `json:"product_version"`
	ProductName          string         `json:"product_name"`
	RabbitVersion        string         `json:"rabbitmq_version"`
	ClusterName          string         `json:"cluster_name"`
	ClusterTags          struct{}       `json:"cluster_tags"`
	NodeTags             struct{}       `json:"node_tags"`
	DisableStats         bool           `json:"disable_stats"`
	DefaultQueueType     string         `json:"default_queue_type"`
	OperatorPoliciesOpen bool           `json:"is_op_policy_updating_enabled"`
	EnableQueueTotals    bool           `json:"enable_queue_totals"`
	QueueTotals          queueTotals    `json:"queue_totals"`
	ObjectTotals         objectTotals   `json:"object_totals"`
	Node                 string         `json:"node"`
	Listeners            []listenerItem `json:"listeners"`
}

type exchangeType struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

type queueTotals struct {
	Messages int `json:"messages"`
	Ready    int `json:"messages_ready"`
	Unacked  int `json:"messages_unacknowledged"`
}

type objectTotals struct {
	Channels    int `json:"channels"`
	Consumers   int `json:"consumers"`
	Exchanges   int `json:"exchanges"`
	Queues      int `json:"queues"`
	Connections int `json:"connections"`
}

type listenerItem struct {
	Node     string `json:"node"`
	Protocol string `json:"protocol"`
	Address  string `json:"ip_address"`
	Port     int    `json:"port"`
}

func (a *api) overview(r *request) {
	o, err := a.broker.Overview(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	item := overviewItem{
		ManagementVersion: rabbitVersion, RatesMode: "none", ExchangeTypes: exchangeTypes(),
		ProductVersion: o.ProductVersion, ProductName: "Candlemark", RabbitVersion: rabbitVersion,
		ClusterName: o.ClusterName, DisableStats: true, DefaultQueueType: "classic", OperatorPoliciesOpen: true,
		EnableQueueTotals: true, QueueTotals: queueTotals{o.Ready + o.Unacked, o.Ready, o.Unacked},
		ObjectTotals: objectTotals{o.Channels, o.Consumers, o.Exchanges, o.Queues, o.Connections},
		Node:         o.Node, Listeners: make([]listenerItem, len(o.Listeners)),
	}
	for i, l := range o.Listeners {
		item.Listeners[i] = listenerItem{o.Node, l.Protocol, l.Address, l.Port}
	}
	answer(r.w, http.StatusOK, item)
}

func exchangeTypes() []exchangeType {
	var types []exchangeType
	for _, name := range [...]string{"direct", "fanout", "headers", "topic"} {
		types = append(types, exchangeType{name, "AMQP " + name + " exchange, as per the AMQP specification", true})
	}
	return types
}

// whoAmI says who asks.
func (a *api) whoAmI(r *request) {
	answer(r.w, http.StatusOK, struct {
		Name     string   `json:"name"`
		Tags     []string `json:"tags"`
		Internal bool     `json:"is_internal_user"`
	}{r.user.Name, r.user.Tags, true})
}

// vhostItem is the JSON form of a virtual host.
type vhostItem struct {
	Name             string        `json:"name"`
	Description      string        `json:"description"`
	Tags             []string      `json:"tags"`
	DefaultQueueType string        `json:"default_queue_type"`
	Metadata         vhostMetadata `json:"metadata"`
	Messages         int           `json:"messages"`
	Ready            int           `json:"messages_ready"`
	Unacked          int           `json:"messages_unacknowledged"`
	Tracing          bool          `json:"tracing"`
}

type vhostMetadata struct {
	Description      string   `json:"description"`
	Tags             []string `json:"tags"`
	DefaultQueueType string   `json:"default_queue_type"`
}

// vhosts lists those that the user may see.
func (a *api) vhosts(r *request) {
	names, err := a.broker.VHosts(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !a.sees(r.user, name) })
	items := make([]vhostItem, 0, len(names))
	for _, name := range names {
		item, err := a.describe(r, name)
		if err != nil {
			a.refuse(r, err)
			return
		}
		items = append(items, item)
	}
	answer(r.w, http.StatusOK, items)
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
	answer(r.w, http.StatusOK, item)
}

func (a *api) describe(r *request, vhost string) (vhostItem, error) {
	item := vhostItem{
		Name: vhost, Tags: []string{}, DefaultQueueType: "classic",
		Metadata: vhostMetadata{Tags: []string{}, DefaultQueueType: "classic"},
	}
	queues, err := a.broker.Queues(r.Context(), vhost)
	for i := range queues {
		item.Ready += queues[i].Ready
		item.Unacked += queues[i].Unacked
	}
	item.Messages = item.Ready + item.Unacked
	return item, err
}
