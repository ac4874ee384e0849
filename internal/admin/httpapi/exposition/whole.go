package exposition

import (
	"strings"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/protocol"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// identity writes the labels of the broker, which dashboards join to all other metrics.
func identity(w *writer, m *management.Metrics, endpoint string) {
	w.info("rabbitmq_build_info", "Versions of the broker and of the RabbitMQ it corresponds to", "rabbitmq_version", protocol.RabbitMQVersion,
		"prometheus_plugin_version", protocol.RabbitMQVersion, "prometheus_client_version", "", "erlang_version", "",
		"product_name", "Candlemark", "product_version", m.ProductVersion)
	w.info("rabbitmq_identity_info", "Names of the node and of its cluster", "rabbitmq_node", m.Node,
		"rabbitmq_cluster", m.ClusterName, "rabbitmq_cluster_permanent_id", m.ClusterID, "rabbitmq_endpoint", endpoint)
}

// node is about the process and its machine.
func node(w *writer, m *management.Metrics) {
	w.gauge("rabbitmq_erlang_uptime_seconds", "Time since the broker started", float64(m.Uptime)/1e3)
	w.gauge("rabbitmq_process_open_fds", "File descriptors in use", float64(m.FilesUsed))
	w.gauge("rabbitmq_process_max_fds", "Limit of file descriptors", float64(m.FilesMax))
	w.gauge("rabbitmq_process_open_tcp_sockets", "AMQP connections, including those not yet logged in", float64(m.SocketsUsed))
	w.gauge("rabbitmq_process_max_tcp_sockets", "Limit of AMQP connections", float64(m.SocketsMax))
	w.gauge("rabbitmq_process_resident_memory_bytes", "Memory in use, without file mappings", float64(m.MemoryUsed))
	w.gauge("rabbitmq_resident_memory_limit_bytes", "Memory above which publishers are blocked", float64(m.MemoryLimit))
	w.gauge("rabbitmq_disk_space_available_bytes", "Free space on the disk of the data folder", float64(m.DiskFree))
	w.gauge("rabbitmq_disk_space_available_limit_bytes", "Free space below which publishers are blocked", float64(m.DiskLimit))
	w.gauge("rabbitmq_alarms_memory_used_watermark", "1 while the memory alarm blocks publishers", truth(m.MemoryAlarm))
	w.gauge("rabbitmq_alarms_free_disk_space_watermark", "1 while the disk alarm blocks publishers", truth(m.DiskAlarm))
	w.gauge("rabbitmq_alarms_file_descriptor_limit", "Always 0: connections beyond the limit are refused", 0)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// totals writes the sums over all objects.
func totals(w *writer, m *management.Metrics) {
	var n queuestats.Sums
	for kind := range metrics.Holder {
		n.Add(&m.Queues[kind])
	}
	figureTotals(w, &n, false)
	counter := func(name, help string, v int64) { w.counter("rabbitmq_queue_"+name, help, uint64(v)) }
	counter("messages_published_total", "Messages published to queues", n[queuestats.Enqueued])
	counter("messages_delivered_ack_total", "Messages delivered to consumers with manual acknowledgement", n[queuestats.Delivered])
	counter("messages_delivered_total", "Messages delivered to consumers with automatic acknowledgement", n[queuestats.DeliveredNoAck])
	counter("get_ack_total", "Messages fetched by basic.get with manual acknowledgement", n[queuestats.Got])
	counter("get_total", "Messages fetched by basic.get with automatic acknowledgement", n[queuestats.GotNoAck])
	counter("get_empty_total", "Calls of basic.get that found the queue empty", n[queuestats.GotNothing])
	counter("messages_acked_total", "Messages acknowledged", n[queuestats.Acked])
	counter("messages_redelivered_total", "Messages redelivered", n[queuestats.Redelivered])

	c := &m.Counts
	w.gauge("rabbitmq_channel_consumers", "Consumers of channels", float64(m.Consumers))
	w.gauge("rabbitmq_channel_messages_unacked", "Messages delivered but not yet acknowledged", float64(m.Unacked))
	w.gauge("rabbitmq_channel_messages_unconfirmed", "Messages published but not yet confirmed", float64(m.Unconfirmed))
	w.gauge("rabbitmq_channel_messages_uncommitted", "Messages published in open transactions", float64(m.Uncommitted))
	w.gauge("rabbitmq_channel_acks_uncommitted", "Acknowledgements in open transactions", float64(m.AcksUncommitted))
	channel := func(name, help string, v uint64) { w.counter("rabbitmq_channel_"+name, help, v) }
	channel("messages_published_total", "Messages published by clients", c.Publish)
	channel("messages_confirmed_total", "Messages confirmed to publishers", c.Confirm)
	channel("messages_unroutable_returned_total", "Unroutable mandatory messages, returned to the publisher", c.Returned)
	channel("messages_unroutable_dropped_total", "Unroutable messages, dropped", c.Dropped)
	channel("messages_delivered_ack_total", "Messages delivered to consumers with manual acknowledgement", c.Deliver)
	channel("messages_delivered_total", "Messages delivered to consumers with automatic acknowledgement", c.DeliverNoAck)
	channel("get_ack_total", "Messages fetched by basic.get with manual acknowledgement", c.Get)
	channel("get_total", "Messages fetched by basic.get with automatic acknowledgement", c.GetNoAck)
	channel("get_empty_total", "Calls of basic.get that found the queue empty", c.GetEmpty)
	channel("messages_redelivered_total", "Messages redelivered", c.Redeliver)
	channel("messages_acked_total", "Messages acknowledged", c.Ack)
	counted(w, m)
}

// figureTotals writes the figures of all queues: those of our own, or RabbitMQ's.
func figureTotals(w *writer, n *queuestats.Sums, ours bool) {
	var v queuestats.Values
	*v.Sums() = *n
	all := v.Figures()
	for i := range queuestats.Table {
		if f := &queuestats.Table[i]; f.Total != "" && strings.HasPrefix(f.Total, ownPrefix) == ours {
			w.gauge(f.Total, f.Help, float64(f.Of(&all)))
		}
	}
}

// counted writes the numbers of current and past objects.
func counted(w *writer, m *management.Metrics) {
	w.gauge("rabbitmq_connections", "Open connections", float64(m.Connections))
	w.gauge("rabbitmq_channels", "Open channels", float64(m.Channels))
	w.gauge("rabbitmq_consumers", "Consumers", float64(m.Consumers))
	w.gauge("rabbitmq_queues", "Queues", float64(m.Overview.Queues))
	c := &m.Churn
	w.counter("rabbitmq_connections_opened_total", "Connections accepted", c.ConnectionsOpened)
	w.counter("rabbitmq_connections_closed_total", "Connections closed", c.ConnectionsClosed)
	w.counter("rabbitmq_channels_opened_total", "Channels opened", c.ChannelsOpened)
	w.counter("rabbitmq_channels_closed_total", "Channels closed", c.ChannelsClosed)
	w.counter("rabbitmq_queues_declared_total", "Queues declared", c.QueuesDeclared)
	w.counter("rabbitmq_queues_created_total", "Queues created", c.QueuesDeclared)
	w.counter("rabbitmq_queues_deleted_total", "Queues deleted", c.QueuesDeleted)
}

// process is about the Go program.
func process(w *writer) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, _ := registry.Gather() // values that could not be read are left out
	for _, f := range families {
		w.begin(f)
	}
}
