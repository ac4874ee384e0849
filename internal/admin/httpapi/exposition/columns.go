package exposition

import (
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
)

type (
	queue      = management.Queue
	connection = management.Connection
	channel    = management.Channel
	schedule   = management.Schedule
)

// RabbitMQ's families of metrics.
const (
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
	ofSchedule  = "schedule_metrics"
)

// ownPrefix begins the names of metrics that other brokers do not have.
const ownPrefix = "candlemark_"

// dueWithin counts the ready messages of a queue that expire within a horizon, and not within the one before.
func dueWithin(i int) column[queue] {
	return gauge(queueExpiry, "candlemark_queue_messages_due_"+horizons[i], "Ready messages by time left until expiry, in disjoint ranges", func(q *queue) float64 {
		return float64(q.Expiring.Within[i])
	})
}

// queueColumns are the figures of queues, and others.
var queueColumns = append(figures(), []column[queue]{
	counter(queueExchange, "queue_messages_published_total", "Messages published to the queue", func(q *queue) uint64 { return q.Counts.Publish }),
	counter(queueDeliveries, "queue_get_ack_total", "Messages fetched by basic.get with manual acknowledgement", func(q *queue) uint64 { return q.Counts.Get }),
	counter(queueDeliveries, "queue_get_total", "Messages fetched by basic.get with automatic acknowledgement", func(q *queue) uint64 { return q.Counts.GetNoAck }),
	counter(queueDeliveries, "queue_messages_delivered_ack_total", "Messages delivered to consumers with manual acknowledgement", func(q *queue) uint64 { return q.Counts.Deliver }),
	counter(queueDeliveries, "queue_messages_delivered_total", "Messages delivered to consumers with automatic acknowledgement", func(q *queue) uint64 { return q.Counts.DeliverNoAck }),
	counter(queueDeliveries, "queue_messages_redelivered_total", "Messages redelivered", func(q *queue) uint64 { return q.Counts.Redeliver }),
	counter(queueDeliveries, "queue_messages_acked_total", "Messages acknowledged", func(q *queue) uint64 { return q.Counts.Ack }),
	counter(queueDeliveries, "queue_get_empty_total", "Calls of basic.get that found the queue empty", func(q *queue) uint64 { return q.Counts.GetEmpty }),
	gauge(queueAge, "candlemark_queue_oldest_ready_age_seconds", "Age of the oldest ready message, 0 if none is ready", func(q *queue) float64 { return float64(q.OldestReady.Age) / 1000 }),
	gauge(queueAge, "candlemark_queue_oldest_message_age_seconds", "Age of the oldest ready or unacked message, 0 if there is none", func(q *queue) float64 { return float64(q.OldestMessage.Age) / 1000 }),
	dueWithin(0), dueWithin(1), dueWithin(2), dueWithin(3), dueWithin(4),
	gauge(queueExpiry, "candlemark_queue_next_expiry_timestamp_seconds", "Unix time at which the next message expires, 0 if none does", func(q *queue) float64 { return float64(q.Expiring.Next) / 1000 }),
	gauge(queueExpiry, "candlemark_queue_lease_expires_timestamp_seconds", "Unix time at which the queue expires if unused, 0 if it does not", func(q *queue) float64 { return float64(q.Lease.Ends) / 1000 }),
}...)

// figures are the metrics of the table of figures.
func figures() (columns []column[queue]) {
	for i := range queuestats.Table {
		if f := &queuestats.Table[i]; f.Metric != "" {
			columns = append(columns, gauge(f.Group, f.Metric, f.Help, func(q *queue) float64 { return float64(f.Of(&q.Figures)) }))
		}
	}
	return columns
}

var connectionColumns = []column[connection]{
	counter(connectionCoarse, "connection_incoming_bytes_total", "Bytes read", func(c *connection) uint64 { return c.BytesIn }),
	counter(connectionCoarse, "connection_outgoing_bytes_total", "Bytes written", func(c *connection) uint64 { return c.BytesOut }),
	counter(connectionMore, "connection_incoming_packets_total", "Read system calls", func(c *connection) uint64 { return c.Reads }),
	counter(connectionMore, "connection_outgoing_packets_total", "Write system calls", func(c *connection) uint64 { return c.Writes }),
	gauge(connectionMore, "connection_channels", "Open channels", func(c *connection) float64 { return float64(c.Channels) }),
}

var channelColumns = []column[channel]{
	gauge(channelMore, "channel_consumers", "Consumers", func(c *channel) float64 { return float64(c.Consumers) }),
	gauge(channelMore, "channel_messages_unacked", "Messages delivered but not yet acknowledged", func(c *channel) float64 { return float64(c.Unacked) }),
	gauge(channelMore, "channel_messages_unconfirmed", "Messages published but not yet confirmed", func(c *channel) float64 { return float64(c.Unconfirmed) }),
	gauge(channelMore, "channel_messages_uncommitted", "Messages published in the open transaction", func(c *channel) float64 { return float64(c.Uncommitted) }),
	gauge(channelMore, "channel_acks_uncommitted", "Acknowledgements in the open transaction", func(c *channel) float64 { return float64(c.AcksUncommitted) }),
	gauge(channelMore, "consumer_prefetch", "Prefetch limit of new consumers, 0 for none", func(c *channel) float64 { return float64(c.Prefetch) }),
	gauge(channelMore, "channel_prefetch", "Prefetch limit of all consumers together, 0 for none", func(c *channel) float64 { return float64(c.GlobalPrefetch) }),
	counter(channelExchange, "channel_messages_published_total", "Messages published", func(c *channel) uint64 { return c.Counts.Publish }),
	counter(channelExchange, "channel_messages_confirmed_total", "Messages confirmed", func(c *channel) uint64 { return c.Counts.Confirm }),
	counter(channelExchange, "channel_messages_unroutable_returned_total", "Unroutable mandatory messages, returned to the publisher", func(c *channel) uint64 { return c.Counts.Returned }),
	counter(channelExchange, "channel_messages_unroutable_dropped_total", "Unroutable messages, dropped", func(c *channel) uint64 { return c.Counts.Dropped }),
	counter(channelQueue, "channel_get_ack_total", "Messages fetched by basic.get with manual acknowledgement", func(c *channel) uint64 { return c.Counts.Get }),
	counter(channelQueue, "channel_get_total", "Messages fetched by basic.get with automatic acknowledgement", func(c *channel) uint64 { return c.Counts.GetNoAck }),
	counter(channelQueue, "channel_messages_delivered_ack_total", "Messages delivered to consumers with manual acknowledgement", func(c *channel) uint64 { return c.Counts.Deliver }),
	counter(channelQueue, "channel_messages_delivered_total", "Messages delivered to consumers with automatic acknowledgement", func(c *channel) uint64 { return c.Counts.DeliverNoAck }),
	counter(channelQueue, "channel_messages_redelivered_total", "Messages redelivered", func(c *channel) uint64 { return c.Counts.Redeliver }),
	counter(channelQueue, "channel_messages_acked_total", "Messages acknowledged", func(c *channel) uint64 { return c.Counts.Ack }),
	counter(channelQueue, "channel_get_empty_total", "Calls of basic.get that found the queue empty", func(c *channel) uint64 { return c.Counts.GetEmpty }),
}

var scheduleColumns = []column[schedule]{
	counter(ofSchedule, "candlemark_schedule_stored_total", "Runs that all their queues have taken", func(s *schedule) uint64 { return uint64(s.Stored) }),
	counter(ofSchedule, "candlemark_schedule_skipped_total", "Runs that were skipped because of the run before", func(s *schedule) uint64 { return uint64(s.Skipped) }),
	counter(ofSchedule, "candlemark_schedule_missed_total", "Runs that were missed", func(s *schedule) uint64 { return uint64(s.Missed) }),
	counter(ofSchedule, "candlemark_schedule_refused_total", "Runs that were refused", func(s *schedule) uint64 { return uint64(s.Refused) }),
	counter(ofSchedule, "candlemark_schedule_unroutable_total", "Runs without a queue", func(s *schedule) uint64 { return uint64(s.Unroutable) }),
	gauge(ofSchedule, "candlemark_schedule_last_lateness_seconds", "Time from the time of the last run, with its jitter, until all its queues had it", func(s *schedule) float64 {
		if s.Last == nil {
			return 0
		}
		return s.Last.Late.Seconds()
	}),
	gauge(ofSchedule, "candlemark_schedule_next_timestamp_seconds", "Unix time of the next run, with its jitter, 0 if there is none", func(s *schedule) float64 { return float64(s.Due) / 1000 }),
	gauge(ofSchedule, "candlemark_schedule_running", "1 if the state of the schedule is running", func(s *schedule) float64 {
		if s.State == "running" {
			return 1
		}
		return 0
	}),
}
