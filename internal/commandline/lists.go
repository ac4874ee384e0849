package commandline

import (
	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var listVerbs = []verb{
	{
		name: "list_queues", about: "Lists the queues of a virtual host", options: "no-table-headers online offline local",
		columns: `name durable auto_delete arguments policy operator_policy effective_policy_definition
			exclusive messages_ready messages_unacknowledged messages messages_scheduled next_due next_expiry lease_expires_at messages_ready_ram messages_unacknowledged_ram messages_ram
			message_bytes message_bytes_ready message_bytes_unacknowledged message_bytes_ram consumers
			consumer_utilisation consumer_capacity memory state type leader members online`,
		defaults: "name messages",
		title:    text("Timeout: {timeout}.0 seconds ...\nListing queues for vhost {vhost} ..."),
		run:      listed("queues", "{vhost}").table(),
	},
	{
		name: "list_exchanges", about: "Lists the exchanges of a virtual host", options: "no-table-headers",
		columns: "name type durable auto_delete internal arguments policy", defaults: "name type",
		title: text("Listing exchanges for vhost {vhost} ..."), run: listed("exchanges", "{vhost}").table(),
	},
	{
		name: "list_bindings", about: "Lists the bindings of a virtual host", options: "no-table-headers", columns: bindingColumns, defaults: bindingColumns,
		title: text("Listing bindings for vhost {vhost}..."),
		run: listed("bindings", "{vhost}").with(func(o client.Object) {
			o["source_name"], o["source_kind"] = o["source"], "exchange"
			o["destination_name"], o["destination_kind"] = o["destination"], o["destination_type"]
		}).table(),
	},
	{
		name: "list_connections", about: "Lists connections", options: "no-table-headers",
		columns: `pid name port host peer_port peer_host ssl ssl_protocol ssl_key_exchange ssl_cipher ssl_hash
			peer_cert_subject peer_cert_issuer peer_cert_validity state channels protocol auth_mechanism user vhost timeout frame_max
			channel_max client_properties recv_oct recv_cnt send_oct send_cnt send_pend connected_at`,
		defaults: "user peer_host peer_port state",
		title:    text("Listing connections ..."),
		// Where RabbitMQ has the number of a process, a connection has its name.
		run: listed("connections").with(func(o client.Object) { o["pid"] = o["name"] }).table(),
	},
	{
		name: "list_channels", about: "Lists channels", options: "no-table-headers",
		columns: `pid connection name number user vhost transactional confirm consumer_count messages_unacknowledged
			messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count`,
		defaults: "pid user consumer_count messages_unacknowledged",
		title:    text("Listing channels ..."),
		run: listed("channels").with(func(o client.Object) {
			o["pid"], o["connection"] = o["name"], format.Inside(o, "connection_details", "name")
		}).table(),
	},
	{
		name: "list_consumers", about: "Lists the consumers of a virtual host", options: "no-table-headers",
		columns:  "queue_name channel_pid consumer_tag ack_required prefetch_count active activity_status arguments",
		defaults: "queue_name channel_pid consumer_tag ack_required prefetch_count active arguments",
		title:    text("Listing consumers in vhost {vhost} ..."),
		run: listed("consumers", "{vhost}").with(func(o client.Object) {
			o["queue_name"], o["channel_pid"] = format.Inside(o, "queue", "name"), format.Inside(o, "channel_details", "name")
		}).table(),
	},
}

const bindingColumns = "source_name source_kind destination_name destination_kind routing_key arguments"
