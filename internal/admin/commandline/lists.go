package commandline

import (
	"strings"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
	"candlemark/internal/measure/queuestats"
)

var listVerbs = []verb.Row{
	{
		Name: "list_queues", About: "Lists the queues of a virtual host", Options: "vhost no-table-headers online offline local",
		Columns: `name durable auto_delete arguments policy operator_policy effective_policy_definition exclusive
			dlx_next_attempt_at oldest_ready_at oldest_ready_age oldest_message_at oldest_message_age oldest_unacked_at wait_p50 wait_p99
			processing_p50 processing_p99 next_due paused_until next_expiry expiry_histogram rules_too_costly lease_expires_at lease_renewed_at
			lease_renewed_by consumer_utilisation consumer_capacity state type leader members online ` + figures(),
		Defaults: "name messages",
		Title:    verb.Text("Timeout: {timeout}.0 seconds ...\nListing queues for vhost {vhost} ..."),
		Run:      verb.Listed("queues", "{vhost}").Table(),
	},
	{
		Name: "list_exchanges", About: "Lists the exchanges of a virtual host", Options: "vhost no-table-headers",
		Columns: "name type durable auto_delete internal arguments policy bindings_skipped", Defaults: "name type",
		Title: verb.Text("Listing exchanges for vhost {vhost} ..."), Run: verb.Listed("exchanges", "{vhost}").Table(),
	},
	{
		Name: "list_bindings", About: "Lists the bindings of a virtual host", Options: "vhost no-table-headers", Columns: bindingColumns, Defaults: bindingColumns,
		Title: verb.Text("Listing bindings for vhost {vhost}..."),
		Run: verb.Listed("bindings", "{vhost}").With(func(o client.Object) {
			o["source_name"], o["source_kind"] = o["source"], "exchange"
			o["destination_name"], o["destination_kind"] = o["destination"], o["destination_type"]
		}).Table(),
	},
	{
		Name: "list_connections", About: "Lists connections", Options: "no-table-headers",
		Columns: `pid name port host peer_port peer_host ssl ssl_protocol ssl_key_exchange ssl_cipher ssl_hash
			peer_cert_subject peer_cert_issuer peer_cert_validity state channels protocol auth_mechanism user vhost container_id timeout frame_max
			channel_max client_properties recv_oct recv_cnt send_oct send_cnt send_pend connected_at memory`,
		Defaults: "user peer_host peer_port state",
		Title:    verb.Text("Listing connections ..."),
		// Where RabbitMQ has the number of a process, a connection has its name.
		Run: verb.Listed("connections").With(func(o client.Object) { o["pid"] = o["name"] }).Table(),
	},
	{
		Name: "list_channels", About: "Lists channels", Options: "no-table-headers",
		Columns: `pid connection name number user vhost transactional confirm consumer_count messages_unacknowledged
			messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count`,
		Defaults: "pid user consumer_count messages_unacknowledged",
		Title:    verb.Text("Listing channels ..."),
		Run: verb.Listed("channels").With(func(o client.Object) {
			o["pid"], o["connection"] = o["name"], format.Inside(o, "connection_details", "name")
		}).Table(),
	},
	{
		Name: "list_links", About: "Lists AMQP 1.0 links", Options: "no-table-headers",
		Columns:  "name connection session handle role address queue delivery_count credit unsettled user vhost",
		Defaults: "connection session name role address credit unsettled",
		Title:    verb.Text("Listing links ..."),
		Run:      verb.Listed("x/links").Table(),
	},
	{
		Name: "list_consumers", About: "Lists the consumers of a virtual host", Options: "vhost no-table-headers",
		Columns:  "queue_name channel_pid consumer_tag ack_required prefetch_count active activity_status arguments",
		Defaults: "queue_name channel_pid consumer_tag ack_required prefetch_count active arguments",
		Title:    verb.Text("Listing consumers in vhost {vhost} ..."),
		Run: verb.Listed("consumers", "{vhost}").With(func(o client.Object) {
			o["queue_name"], o["channel_pid"] = format.Inside(o, "queue", "name"), format.Inside(o, "channel_details", "name")
		}).Table(),
	},
}

const bindingColumns = "source_name source_kind destination_name destination_kind routing_key arguments"

// figures are the columns of the table of figures.
func figures() string {
	names := make([]string, len(queuestats.Table))
	for i := range queuestats.Table {
		names[i] = queuestats.Table[i].Name
	}
	return strings.Join(names, " ")
}
