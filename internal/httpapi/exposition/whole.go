package exposition

import (
	"candlemark/internal/management"
	"candlemark/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// rabbitVersion is the level of RabbitMQ that the broker follows (ADR 34).
const rabbitVersion = "4.0.5"

// identity writes the labels of the broker, which dashboards join to all other metrics.
func identity(w *writer, m *management.Metrics, endpoint string) {
	w.info("rabbitmq_build_info", "Versions of the broker, and of RabbitMQ that it follows", "rabbitmq_version", rabbitVersion,
		"prometheus_plugin_version", rabbitVersion, "prometheus_client_version", "", "erlang_version", "",
		"product_name", "Candlemark", "product_version", m.ProductVersion)
	w.info("rabbitmq_identity_info", "Name of the node and of its cluster, which is itself", "rabbitmq_node", m.Node,
		"rabbitmq_cluster", m.ClusterName, "rabbitmq_cluster_permanent_id", m.ClusterID, "rabbitmq_endpoint", endpoint)
}

// node is about the process and its machine.
func node(w *writer, m *management.Metrics) {
	w.gauge("rabbitmq_erlang_uptime_seconds", "Time since the broker started", float64(m.Uptime)/1e3)
	w.gauge("rabbitmq_process_open_fds", "File descriptors in use", float64(m.FilesUsed))
	w.gauge("rabbitmq_process_max_fds", "File descriptors that the process may have", float64(m.FilesMax))
	w.gauge("rabbitmq_process_open_tcp_sockets", "Connections of AMQP clients, with those that have not logged in", float64(m.SocketsUsed))
	w.gauge("rabbitmq_process_max_tcp_sockets", "Connections of AMQP clients that there may be", float64(m.SocketsMax))
	w.gauge("rabbitmq_process_resident_memory_bytes", "Memory in use, without file mappings", float64(m.MemoryUsed))
	w.gauge("rabbitmq_resident_memory_limit_bytes", "Memory above which publishers are blocked", float64(m.MemoryLimit))
	w.gauge("rabbitmq_disk_space_available_bytes", "Free space on the disk of the data folder", float64(m.DiskFree))
	w.gauge("rabbitmq_disk_space_available_limit_bytes", "Free space below which publishers are blocked", float64(m.DiskLimit))
	w.gauge("rabbitmq_alarms_memory_used_watermark", "1 while publishers are blocked for want of memory", truth(m.MemoryAlarm))
	w.gauge("rabbitmq_alarms_free_disk_space_watermark", "1 while publishers are blocked for want of disk space", truth(m.DiskAlarm))
	w.gauge("rabbitmq_alarms_file_descriptor_limit", "0: connections beyond the limit are refused instead", 0)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// totals writes the sums over all objects.
func totals(w *writer, m *management.Metrics) {
	var n metrics.Numbers
	for kind := range metrics.Holder {
		n.Add(&m.Queues[kind])
	}
	gauge := func(name, help string, v int64) { w.gauge("rabbitmq_queue_"+name, help, float64(v)) }
	gauge("messages_ready", "Messages that wait for a consumer", n[metrics.Ready])
	gauge("messages_unacked", "Messages that consumers have and did not settle", n[metrics.Unacked])
	gauge("messages", "Messages ready or unacked", n[metrics.Ready]+n[metrics.Unacked])
	gauge("messages_ready_bytes", "Bytes of the bodies of messages ready", n[metrics.ReadyBytes])
	gauge("messages_unacked_bytes", "Bytes of the bodies of messages unacked", n[metrics.UnackedBytes])
	gauge("messages_bytes", "Bytes of the bodies of messages ready or unacked", n[metrics.ReadyBytes]+n[metrics.UnackedBytes])
	gauge("messages_paged_out", "Messages whose content is on disk alone", n[metrics.Paged])
	gauge("messages_paged_out_bytes", "Bytes of bodies that are on disk alone", n[metrics.PagedBytes])
	gauge("consumers", "Consumers of queues", n[metrics.Consumers])
	counter := func(name, help string, v int64) { w.counter("rabbitmq_queue_"+name, help, uint64(v)) }
	counter("messages_published_total", "Messages that queues were sent", n[metrics.Enqueued])
	counter("messages_delivered_ack_total", "Deliveries to consumers that acknowledge", n[metrics.Delivered])
	counter("messages_delivered_total", "Deliveries to consumers that do not", n[metrics.DeliveredNoAck])
	counter("get_ack_total", "Messages got with basic.get, to be acknowledged", n[metrics.Got])
	counter("get_total", "Messages got with basic.get without acknowledgement", n[metrics.GotNoAck])
	counter("get_empty_total", "basic.get on an empty queue", n[metrics.GotNothing])
	counter("messages_acked_total", "Messages acknowledged", n[metrics.Acked])
	counter("messages_redelivered_total", "Messages that came again", n[metrics.Redelivered])

	c := &m.Counts
	w.gauge("rabbitmq_channel_consumers", "Consumers of channels", float64(m.Consumers))
	w.gauge("rabbitmq_channel_messages_unacked", "Messages that channels have and did not settle", float64(m.Unacked))
	w.gauge("rabbitmq_channel_messages_unconfirmed", "Messages published and not confirmed yet", float64(m.Unconfirmed))
	w.gauge("rabbitmq_channel_messages_uncommitted", "Messages published in open transactions", float64(m.Uncommitted))
	w.gauge("rabbitmq_channel_acks_uncommitted", "Acknowledgements in open transactions", float64(m.AcksUncommitted))
	channel := func(name, help string, v uint64) { w.counter("rabbitmq_channel_"+name, help, v) }
	channel("messages_published_total", "Messages that clients have published", c.Publish)
	channel("messages_confirmed_total", "Messages confirmed to publishers", c.Confirm)
	channel("messages_unroutable_returned_total", "Mandatory messages that went nowhere", c.Returned)
	channel("messages_unroutable_dropped_total", "Other messages that went nowhere", c.Dropped)
	channel("messages_delivered_ack_total", "Deliveries to consumers that acknowledge", c.Deliver)
	channel("messages_delivered_total", "Deliveries to consumers that do not", c.DeliverNoAck)
	channel("get_ack_total", "Messages got with basic.get, to be acknowledged", c.Get)
	channel("get_total", "Messages got with basic.get without acknowledgement", c.GetNoAck)
	channel("get_empty_total", "basic.get on an empty queue", c.GetEmpty)
	channel("messages_redelivered_total", "Messages that came again", c.Redeliver)
	channel("messages_acked_total", "Messages acknowledged", c.Ack)
	counted(w, m)
}

// counted writes the numbers of current and past objects.
func counted(w *writer, m *management.Metrics) {
	w.gauge("rabbitmq_connections", "Open connections", float64(m.Connections))
	w.gauge("rabbitmq_channels", "Open channels", float64(m.Channels))
	w.gauge("rabbitmq_consumers", "Consumers", float64(m.Consumers))
	w.gauge("rabbitmq_queues", "Queues", float64(m.Overview.Queues))
	c := &m.Churn
	w.counter("rabbitmq_connections_opened_total", "Connections accepted", c.ConnectionsOpened)
	w.counter("rabbitmq_connections_closed_total", "Connections that ended", c.ConnectionsClosed)
	w.counter("rabbitmq_channels_opened_total", "Channels opened", c.ChannelsOpened)
	w.counter("rabbitmq_channels_closed_total", "Channels that ended", c.ChannelsClosed)
	w.counter("rabbitmq_queues_declared_total", "Queues made by declarations", c.QueuesMade)
	w.counter("rabbitmq_queues_created_total", "Queues made", c.QueuesMade)
	w.counter("rabbitmq_queues_deleted_total", "Queues that ended", c.QueuesGone)
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
