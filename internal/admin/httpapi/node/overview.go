package node

import (
	"context"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
	"candlemark/protocol"
)

// ratesMode: rates are computed from two samples, see forms.Rates.
const ratesMode = "basic"

// overviewItem is the JSON form of the whole broker.
type overviewItem struct {
	ManagementVersion    string           `json:"management_version"`
	RatesMode            string           `json:"rates_mode"`
	Retention            map[string][]int `json:"sample_retention_policies"`
	ExchangeTypes        []exchangeType   `json:"exchange_types"`
	ProductVersion       string           `json:"product_version"`
	ProductName          string           `json:"product_name"`
	RabbitVersion        string           `json:"rabbitmq_version"`
	ClusterName          string           `json:"cluster_name"`
	ClusterTags          struct{}         `json:"cluster_tags"`
	NodeTags             struct{}         `json:"node_tags"`
	ErlangVersion        string           `json:"erlang_version"` // "": there is none
	ErlangFull           string           `json:"erlang_full_version"`
	DisableStats         bool             `json:"disable_stats"`
	DefaultQueueType     string           `json:"default_queue_type"`
	OperatorPoliciesOpen bool             `json:"is_op_policy_updating_enabled"`
	EnableQueueTotals    bool             `json:"enable_queue_totals"`
	RequireJSON          bool             `json:"require_definition_json_extension"`
	Stats                allStats         `json:"message_stats"`
	Churn                churnItem        `json:"churn_rates"`
	QueueTotals          ratedTotals      `json:"queue_totals"`
	ObjectTotals         objectTotals     `json:"object_totals"`
	EventQueue           int              `json:"statistics_db_event_queue"`
	Node                 string           `json:"node"`
	Listeners            []listenerItem   `json:"listeners"`
	Contexts             []contextItem    `json:"contexts"`
	TestClock            bool             `json:"test_clock,omitempty"`
}

// allStats are the counts of the whole broker, with its disk.
type allStats struct {
	forms.Stats
	Reads      uint64     `json:"disk_reads"`
	ReadsRate  forms.Rate `json:"disk_reads_details"`
	Writes     uint64     `json:"disk_writes"`
	WritesRate forms.Rate `json:"disk_writes_details"`
}

type exchangeType struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

// ratedTotals are totals with their rates.
type ratedTotals struct {
	forms.QueueTotals
	MessagesRate forms.Rate `json:"messages_details"`
	ReadyRate    forms.Rate `json:"messages_ready_details"`
	UnackedRate  forms.Rate `json:"messages_unacknowledged_details"`
}

// churnItem counts created and deleted objects.
type churnItem struct {
	ChannelsClosed     uint64     `json:"channel_closed"`
	ChannelsClosedRate forms.Rate `json:"channel_closed_details"`
	Channels           uint64     `json:"channel_created"`
	ChannelsRate       forms.Rate `json:"channel_created_details"`
	Closed             uint64     `json:"connection_closed"`
	ClosedRate         forms.Rate `json:"connection_closed_details"`
	Connections        uint64     `json:"connection_created"`
	ConnectionsRate    forms.Rate `json:"connection_created_details"`
	Made               uint64     `json:"queue_created"`
	MadeRate           forms.Rate `json:"queue_created_details"`
	Declared           uint64     `json:"queue_declared"`
	DeclaredRate       forms.Rate `json:"queue_declared_details"`
	Deleted            uint64     `json:"queue_deleted"`
	DeletedRate        forms.Rate `json:"queue_deleted_details"`
}

func churnForm(r *rest.Request, key string, c management.Churn) churnItem {
	f := r.Rates.Of("churn"+key, float64(c.ChannelsClosed), float64(c.ChannelsOpened), float64(c.ConnectionsClosed),
		float64(c.ConnectionsOpened), float64(c.QueuesDeclared), float64(c.QueuesDeleted))
	return churnItem{
		ChannelsClosed: c.ChannelsClosed, ChannelsClosedRate: f[0], Channels: c.ChannelsOpened, ChannelsRate: f[1],
		Closed: c.ConnectionsClosed, ClosedRate: f[2], Connections: c.ConnectionsOpened, ConnectionsRate: f[3],
		Made: c.QueuesDeclared, MadeRate: f[4], Declared: c.QueuesDeclared, DeclaredRate: f[4], Deleted: c.QueuesDeleted, DeletedRate: f[5],
	}
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
	TLS      bool   `json:"tls"`
}

// figures returns the rates of the numbers of messages, and the counts of all.
func figures(l *forms.Look, key string, o *management.Overview) ([]forms.Rate, forms.Stats) {
	object := forms.Overview + key
	return l.Lengths(object, float64(o.Ready+o.Unacked), float64(o.Ready), float64(o.Unacked)), l.Stats(object, o.Counts)
}

func overview(r *rest.Request) (any, error) {
	o, err := r.Broker.Overview(r.Context())
	key := ""
	if err == nil && !r.Monitors() {
		key = "of " + r.User.Name
		o, err = seen(r, o)
	}
	if err != nil {
		return nil, err
	}
	f, stats := figures(r.Rates, key, &o)
	if broker := r.Broker; key == "" {
		r.Rates.Refresh(forms.Overview, func(ctx context.Context, l *forms.Look) error {
			o, err := broker.Overview(ctx)
			if err == nil {
				figures(l, "", &o)
			}
			return err
		})
	}
	disk := r.Rates.Counters("disk"+key, float64(o.DiskReads), float64(o.DiskWrites))
	item := overviewItem{
		ManagementVersion: protocol.RabbitMQVersion, RatesMode: ratesMode, ExchangeTypes: exchangeTypes(),
		Retention:      retention(r.Rates.Samples),
		ProductVersion: o.ProductVersion, ProductName: "Candlemark", RabbitVersion: protocol.RabbitMQVersion,
		ClusterName: o.ClusterName, DefaultQueueType: "classic", OperatorPoliciesOpen: true,
		Stats: allStats{stats, o.DiskReads, disk[0], o.DiskWrites, disk[1]}, Churn: churnForm(r, key, o.Churn),
		QueueTotals:  ratedTotals{forms.QueueTotalsOf(o.Ready, o.Unacked), f[0], f[1], f[2]},
		ObjectTotals: objectTotals{o.Channels, o.Consumers, o.Exchanges, o.Queues, o.Connections},
		Node:         o.Node, Listeners: make([]listenerItem, len(o.Listeners)), Contexts: contexts(&o), TestClock: r.Broker.Clock().Manual(),
	}
	for i := range item.Contexts {
		item.Contexts[i].Node = o.Node
	}
	for i, l := range o.Listeners {
		item.Listeners[i] = listenerItem{o.Node, l.Protocol, l.Address, l.Port, !l.Expires.IsZero()}
	}
	return rest.One(r, item), nil
}

// retention returns the lengths of the spans in s. There are no counts for pairs of objects, which RabbitMQ has under
// detailed.
func retention(s config.Samples) map[string][]int {
	lengths := func(spans []config.Span) []int {
		list := make([]int, len(spans))
		for i := range spans {
			list[i] = int(spans[i].Length.Seconds())
		}
		return list
	}
	return map[string][]int{"global": lengths(s.Overview), "basic": lengths(s.Objects), "detailed": lengths(s.Objects[:min(1, len(s.Objects))])}
}

// seen returns the part of the overview that the user may see: its virtual hosts with their queues and exchanges, its
// own connections with their channels; nothing about the broker itself.
func seen(r *rest.Request, o management.Overview) (management.Overview, error) {
	ctx := r.Context()
	exchanges, err := r.Broker.Exchanges(ctx, "")
	if err != nil {
		return o, err
	}
	connections, err := r.Broker.Connections(ctx, "")
	if err != nil {
		return o, err
	}
	channels, err := r.Broker.Channels(ctx, "")
	if err != nil {
		return o, err
	}
	seen := management.Overview{
		Node: o.Node, ClusterName: o.ClusterName, ProductVersion: o.ProductVersion,
		Exchanges:   rest.Count(exchanges, func(x *management.Exchange) bool { return r.Sees(x.VHost) }),
		Connections: rest.Count(connections, func(c *management.Connection) bool { return r.Owns(c) }),
		Channels:    rest.Count(channels, func(c *management.Channel) bool { return r.OwnsChannel(c) }),
	}
	for i := range channels {
		if c := &channels[i]; r.OwnsChannel(c) {
			seen.Consumers += c.Consumers
		}
	}
	for _, q := range r.Broker.QueueNames("") {
		if r.Sees(q.VHost) {
			seen.Queues++
			seen.Ready += int(q.Get(queuestats.Ready))
			seen.Unacked += int(q.Get(queuestats.Unacked))
		}
	}
	return seen, nil
}

func exchangeTypes() []exchangeType {
	var types []exchangeType
	for _, name := range [...]string{"direct", "fanout", "headers", "topic"} {
		types = append(types, exchangeType{name, "AMQP " + name + " exchange, as per the AMQP specification", true})
	}
	return append(
		types,
		exchangeType{"x-consistent-hash", "Consistent Hashing Exchange", true},
		exchangeType{"x-delayed-message", "Delayed Message Exchange.", true},
		exchangeType{"x-local-random", "Picks one random local binding (queue) to route via (to).", true},
		exchangeType{"x-modulus-hash", "Modulus Hashing Exchange", true},
		exchangeType{"x-random", "AMQP random exchange. Like a direct exchange, but randomly chooses who to route to.", true},
		exchangeType{"x-recent-history", "Recent History Exchange.", true},
		exchangeType{"x-rules", "Routes by rules of Azure Service Bus", true},
	)
}

// whoAmI returns the user of the request.
func whoAmI(r *rest.Request) (any, error) {
	return struct {
		Name     string   `json:"name"`
		Tags     []string `json:"tags"`
		Internal bool     `json:"is_internal_user"`
	}{r.User.Name, r.User.Tags, true}, nil
}

// deadLetters counts dead letters.
func deadLetters(r *rest.Request) (any, error) { return r.Broker.DeadLetters(), nil }
