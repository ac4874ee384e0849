package commandline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/httpapi/client"
)

// objectOptions are those of the verbs about queues, connections and the like.
func (o *options) objectOptions() {
	for _, name := range []string{"e", "if-empty"} {
		o.BoolVar(&o.ifEmpty, name, false, "")
	}
	for _, name := range []string{"u", "if-unused"} {
		o.BoolVar(&o.ifUnused, name, false, "")
	}
	o.BoolVar(&o.global, "global", false, "")
	o.IntVar(&o.limit, "limit", 0, "")
	// Of a cluster, which this is not.
	for _, name := range []string{"online", "offline", "local", "l", "longnames"} {
		o.Bool(name, false, "")
	}
	for _, name := range []string{"n", "node"} {
		o.String(name, "", "")
	}
}

// unknownColumns says which of the names are no columns, "" if all are.
func unknownColumns(columns, names []string) string {
	var unknown []string
	for _, name := range names {
		if !slices.Contains(columns, name) {
			unknown = append(unknown, name)
		}
	}
	if unknown == nil {
		return ""
	}
	return "Info key(s) " + strings.Join(unknown, ",") + " are not supported"
}

// table is a list with columns that the user chooses.
type table struct {
	columns   []string // all there are
	defaults  []string
	arguments []string // of the verb
	options   []string // besides no-table-headers
	banner    func(c *call) string
	path      func(c *call) []string
	// get asks for the list where that takes more than its path.
	get func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error)
	// fill adds what has another name over HTTP.
	fill func(o client.Object)
}

func (t table) verb() verb {
	return verb{
		arguments: t.arguments, columns: t.columns, options: append([]string{"no-table-headers"}, t.options...), banner: t.banner,
		run: func(ctx context.Context, broker *client.Client, c *call) (err error) {
			var list []client.Object
			if t.get != nil {
				list, err = t.get(ctx, broker, c)
			} else {
				list, err = broker.List(ctx, t.path(c)...)
			}
			if err != nil {
				return err
			}
			columns := c.arguments[len(t.arguments):]
			if len(columns) == 0 {
				columns = t.defaults
			}
			for _, o := range list {
				if t.fill != nil {
					t.fill(o)
				}
			}
			return c.printTable(columns, list)
		},
	}
}

func inVHost(of string) func(*call) []string {
	return func(c *call) []string { return []string{of, c.vhost} }
}

func all(of string) func(*call) []string {
	return func(*call) []string { return []string{of} }
}

var listQueuesVerb = table{
	columns: strings.Fields(`name durable auto_delete arguments policy operator_policy effective_policy_definition
		exclusive messages_ready messages_unacknowledged messages messages_scheduled next_due messages_ready_ram messages_unacknowledged_ram messages_ram
		message_bytes message_bytes_ready message_bytes_unacknowledged message_bytes_ram consumers
		consumer_utilisation consumer_capacity memory state type leader members online`),
	defaults: []string{"name", "messages"},
	banner: func(c *call) string {
		return fmt.Sprintf("Timeout: %d.0 seconds ...\nListing queues for vhost %s ...", c.timeout, c.vhost)
	},
	path:    inVHost("queues"),
	options: []string{"online", "offline", "local"},
}.verb()

var listExchangesVerb = table{
	columns:  []string{"name", "type", "durable", "auto_delete", "internal", "arguments", "policy"},
	defaults: []string{"name", "type"},
	banner:   func(c *call) string { return fmt.Sprintf("Listing exchanges for vhost %s ...", c.vhost) },
	path:     inVHost("exchanges"),
}.verb()

var bindingColumns = []string{"source_name", "source_kind", "destination_name", "destination_kind", "routing_key", "arguments"}

var listBindingsVerb = table{
	columns: bindingColumns, defaults: bindingColumns,
	banner: func(c *call) string { return fmt.Sprintf("Listing bindings for vhost %s...", c.vhost) },
	path:   inVHost("bindings"),
	fill: func(o client.Object) {
		o["source_name"], o["source_kind"] = o["source"], "exchange"
		o["destination_name"], o["destination_kind"] = o["destination"], o["destination_type"]
	},
}.verb()

var listConnectionsVerb = table{
	columns: strings.Fields(`pid name port host peer_port peer_host ssl ssl_protocol ssl_key_exchange ssl_cipher ssl_hash
		peer_cert_subject peer_cert_issuer peer_cert_validity state channels protocol auth_mechanism user vhost timeout frame_max
		channel_max client_properties recv_oct recv_cnt send_oct send_cnt send_pend connected_at`),
	defaults: []string{"user", "peer_host", "peer_port", "state"},
	banner:   func(*call) string { return "Listing connections ..." },
	path:     all("connections"),
	// Where RabbitMQ has the number of a process, a connection has its name.
	fill: func(o client.Object) { o["pid"] = o["name"] },
}.verb()

var listChannelsVerb = table{
	columns: strings.Fields(`pid connection name number user vhost transactional confirm consumer_count messages_unacknowledged
		messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count`),
	defaults: []string{"pid", "user", "consumer_count", "messages_unacknowledged"},
	banner:   func(*call) string { return "Listing channels ..." },
	path:     all("channels"),
	fill: func(o client.Object) {
		o["pid"], o["connection"] = o["name"], inside(o, "connection_details", "name")
	},
}.verb()

var listConsumersVerb = table{
	columns:  strings.Fields("queue_name channel_pid consumer_tag ack_required prefetch_count active activity_status arguments"),
	defaults: strings.Fields("queue_name channel_pid consumer_tag ack_required prefetch_count active arguments"),
	banner:   func(c *call) string { return fmt.Sprintf("Listing consumers in vhost %s ...", c.vhost) },
	path:     inVHost("consumers"),
	fill: func(o client.Object) {
		o["queue_name"], o["channel_pid"] = inside(o, "queue", "name"), inside(o, "channel_details", "name")
	},
}.verb()

// inside is a field of an object in an object, nil if there is none.
func inside(o client.Object, keys ...string) any {
	value := any(map[string]any(o))
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}
