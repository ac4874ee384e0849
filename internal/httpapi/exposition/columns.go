package exposition

import "candlemark/internal/management"

type (
	queue      = management.Queue
	connection = management.Connection
	channel    = management.Channel
)

// RabbitMQ's families of metrics.
const (
	queueCoarse      = "queue_coarse_metrics"
	queueConsumers   = "queue_consumer_count"
	queueMore        = "queue_metrics"
	queueDeliveries  = "queue_delivery_metrics"
	queueExchange    = "queue_exchange_metrics"
	connectionCoarse = "connection_coarse_metrics"
	connectionMore   = "connection_metrics"
	channelMore      = "channel_metrics"
	channelExchange  = "channel_exchange_metrics"
	channelQueue     = "channel_queue_metrics"
)

// Families of our own, with names of our own.
const (
	queueExpiry = "queue_expiry_metrics"
	queueAge    = "queue_age_metrics"
)

// ownPrefix begins the names of metrics that other brokers do not have.
const ownPrefix = "candlemark_"

// dueWithin counts the ready messages of a queue that expire within a horizon, and not within the one before.
func dueWithin(i int) column[queue] {
	return gauge(queueExpiry, "candlemark_queue_messages_due_"+horizons[i], "Ready messages that expire then and not before", func(q *queue) float64 {
		return float64(q.Expiring.Within[i])
	})
}

var queueColumns = []column[queue]{
	gauge(queueCoarse, "queue_messages_ready", "Messages that wait for a consumer", func(q *queue) float64 { return float64(q.Ready) }),
	gauge(queueCoarse, "queue_messages_unacked", "Messages that consumers have and did not settle", func(q *queue) float64 { return float64(q.Unacked) }),
	gauge(queueCoarse, "queue_messages", "Messages ready or unacked", func(q *queue) float64 { return float64(q.Ready + q.Unacked) }),
	gauge(queueConsumers, "queue_consumers", "Consumers", func(q *queue) float64 { return float64(q.Consumers) }),
	gauge(queueMore, "queue_process_memory_bytes", "Memory that the messages take", func(q *queue) float64 { return float64(q.Memory) }),
	gauge(queueMore, "queue_messages_bytes", "Bytes of the bodies of messages ready or unacked", func(q *queue) float64 { return float64(q.ReadyBytes + q.UnackedBytes) }),
	gauge(queueMore, "queue_messages_ready_bytes", "Bytes of the bodies of messages ready", func(q *queue) float64 { return float64(q.ReadyBytes) }),
	gauge(queueMore, "queue_messages_unacked_bytes", "Bytes of the bodies of messages unacked", func(q *queue) float64 { return float64(q.UnackedBytes) }),
	gauge(queueMore, "queue_messages_paged_out", "Messages whose content is on disk alone", func(q *queue) float64 { return float64(q.Paged) }),
	gauge(queueMore, "queue_messages_paged_out_bytes", "Bytes of bodies that are on disk alone", func(q *queue) float64 { return float64(q.PagedBytes) }),
	gauge(queueMore, "queue_messages_scheduled", "Messages that wait for their time", func(q *queue) float64 { return float64(q.Scheduled.Count) }),
	counter(queueExchange, "queue_messages_published_total", "Messages that the queue was sent", func(q *queue) uint64 { return q.Counts.Publish }),
	counter(queueDeliveries, "queue_get_ack_total", "Messages got with basic.get, to be acknowledged", func(q *queue) uint64 { return q.Counts.Get }),
	counter(queueDeliveries, "queue_get_total", "Messages got with basic.get without acknowledgement", func(q *queue) uint64 { return q.Counts.GetNoAck }),
	counter(queueDeliveries, "queue_messages_delivered_ack_total", "Deliveries to consumers that acknowledge", func(q *queue) uint64 { return q.Counts.Deliver }),
	counter(queueDeliveries, "queue_messages_delivered_total", "Deliveries to consumers that do not", func(q *queue) uint64 { return q.Counts.DeliverNoAck }),
	counter(queueDeliveries, "queue_messages_redelivered_total", "Messages that came again", func(q *queue) uint64 { return q.Counts.Redeliver }),
	counter(queueDeliveries, "queue_messages_acked_total", "Messages acknowledged", func(q *queue) uint64 { return q.Counts.Ack }),
	counter(queueDeliveries, "queue_get_empty_total", "basic.get on the empty queue", func(q *queue) uint64 { return q.Counts.GetEmpty }),
	gauge(queueAge, "candlemark_queue_oldest_ready_age_seconds", "Age of the oldest ready message, 0 if none is ready", func(q *queue) float64 { return float64(q.OldestReady.Age) / 1000 }),
	gauge(queueAge, "candlemark_queue_oldest_message_age_seconds", "Age of the oldest ready or unacked message, 0 if there is none", func(q *queue) float64 { return float64(q.OldestMessage.Age) / 1000 }),
	dueWithin(0), dueWithin(1), dueWithin(2), dueWithin(3), dueWithin(4),
	gauge(queueExpiry, "candlemark_queue_next_expiry_timestamp_seconds", "When the next message expires, since 1970, 0 if none does", func(q *queue) float64 { return float64(q.Expiring.Next) / 1000 }),
	gauge(queueExpiry, "candlemark_queue_lease_expires_timestamp_seconds", "When the queue ends if unused, since 1970, 0 if it does not", func(q *queue) float64 { return float64(q.Lease.Ends) / 1000 }),
}

var connectionColumns = []column[connection]{
	counter(connectionCoarse, "connection_incoming_bytes_total", "Bytes read", func(c *connection) uint64 { return c.BytesIn }),
	counter(connectionCoarse, "connection_outgoing_bytes_total", "Bytes written", func(c *connection) uint64 { return c.BytesOut }),
	counter(connectionMore, "connection_incoming_packets_total", "System calls that read", func(c *connection) uint64 { return c.Reads }),
	counter(connectionMore, "connection_outgoing_packets_total", "System calls that wrote", func(c *connection) uint64 { return c.Writes }),
	gauge(connectionMore, "connection_channels", "Open channels", func(c *connection) float64 { return float64(c.Channels) }),
}

var channelColumns = []column[channel]{
	gauge(channelMore, "channel_consumers", "Consumers", func(c *channel) float64 { return float64(c.Consumers) }),
	gauge(channelMore, "channel_messages_unacked", "Messages that the client has and did not settle", func(c *channel) float64 { return float64(c.Unacked) }),
	gauge(channelMore, "channel_messages_unconfirmed", "Messages published and not confirmed yet", func(c *channel) float64 { return float64(c.Unconfirmed) }),
	gauge(channelMore, "channel_messages_uncommitted", "Messages published in the open transaction", func(c *channel) float64 { return float64(c.Uncommitted) }),
	gauge(channelMore, "channel_acks_uncommitted", "Acknowledgements in the open transaction", func(c *channel) float64 { return float64(c.AcksUncommitted) }),
	gauge(channelMore, "consumer_prefetch", "Deliveries that a new consumer may hold, 0 for any number", func(c *channel) float64 { return float64(c.Prefetch) }),
	gauge(channelMore, "channel_prefetch", "Deliveries that all consumers may hold, 0 for any number", func(c *channel) float64 { return float64(c.GlobalPrefetch) }),
	counter(channelExchange, "channel_messages_published_total", "Messages published", func(c *channel) uint64 { return c.Counts.Publish }),
	counter(channelExchange, "channel_messages_confirmed_total", "Messages confirmed", func(c *channel) uint64 { return c.Counts.Confirm }),
	counter(channelExchange, "channel_messages_unroutable_returned_total", "Mandatory messages that went nowhere", func(c *channel) uint64 { return c.Counts.Returned }),
	counter(channelExchange, "channel_messages_unroutable_dropped_total", "Other messages that went nowhere", func(c *channel) uint64 { return c.Counts.Dropped }),
	counter(channelQueue, "channel_get_ack_total", "Messages got with basic.get, to be acknowledged", func(c *channel) uint64 { return c.Counts.Get }),
	counter(channelQueue, "channel_get_total", "Messages got with basic.get without acknowledgement", func(c *channel) uint64 { return c.Counts.GetNoAck }),
	counter(channelQueue, "channel_messages_delivered_ack_total", "Deliveries to consumers that acknowledge", func(c *channel) uint64 { return c.Counts.Deliver }),
	counter(channelQueue, "channel_messages_delivered_total", "Deliveries to consumers that do not", func(c *channel) uint64 { return c.Counts.DeliverNoAck }),
	counter(channelQueue, "channel_messages_redelivered_total", "Messages that came again", func(c *channel) uint64 { return c.Counts.Redeliver }),
	counter(channelQueue, "channel_messages_acked_total", "Messages acknowledged", func(c *channel) uint64 { return c.Counts.Ack }),
	counter(channelQueue, "channel_get_empty_total", "basic.get on an empty queue", func(c *channel) uint64 { return c.Counts.GetEmpty }),
}
