package exposition

import (
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// protocolNames are RabbitMQ's names of protocols.
var protocolNames = [management.Protocols]string{management.AMQP091: "amqp091", management.AMQP10: "amqp10"}

// ofQueues is the protocol label of counts of queues, which do not know the protocol of their clients.
const ofQueues = "amqp091"

// queueTypes are RabbitMQ's names.
var queueTypes = [metrics.Holder]string{
	metrics.Classic: "rabbit_classic_queue", metrics.Quorum: "rabbit_quorum_queue", metrics.Stream: "rabbit_stream_queue",
}

// protocols are RabbitMQ's global counters, by protocol and type of queue.
func protocols(w *writer, m *management.Metrics) {
	count := func(name, help string, of func(*management.ByProtocol) uint64) {
		for i, protocol := range protocolNames {
			w.counter("rabbitmq_global_"+name, help, of(&m.ByProtocol[i]), "protocol", protocol)
		}
	}
	count("messages_received_total", "Messages published by clients", func(p *management.ByProtocol) uint64 { return p.Counts.Publish })
	count("messages_received_confirm_total", "Messages published with publisher confirms", func(p *management.ByProtocol) uint64 { return p.Published.Confirm })
	count("messages_routed_total", "Messages routed to queues, counted once per queue", func(p *management.ByProtocol) uint64 { return p.Published.Routed })
	count("messages_confirmed_total", "Messages confirmed to publishers", func(p *management.ByProtocol) uint64 { return p.Counts.Confirm })
	count("messages_unroutable_dropped_total", "Unroutable messages, dropped", func(p *management.ByProtocol) uint64 { return p.Counts.Dropped })
	count("messages_unroutable_returned_total", "Unroutable mandatory messages, returned to the publisher", func(p *management.ByProtocol) uint64 { return p.Counts.Returned })
	for i, protocol := range protocolNames {
		w.gauge("rabbitmq_global_publishers", "Open channels and sessions that have published", float64(m.ByProtocol[i].Publishers), "protocol", protocol)
	}
	for i, protocol := range protocolNames {
		w.gauge("rabbitmq_global_consumers", "Consumers", float64(m.ByProtocol[i].Consumers), "protocol", protocol)
	}
	for i, protocol := range protocolNames {
		w.histogram("rabbitmq_message_size_bytes", "Body sizes of published messages", m.ByProtocol[i].Published.Sizes(), "protocol", protocol)
	}
	byTypes(w, m)
	logins(w, m)
	died(w, m)
}

// byTypes are counters of queues, by their type.
func byTypes(w *writer, m *management.Metrics) {
	byType := func(name, help string, which ...int) {
		for kind, word := range queueTypes {
			sum := int64(0)
			for _, i := range which {
				sum += m.Queues[kind][i]
			}
			w.counter("rabbitmq_global_"+name, help, uint64(sum), "protocol", ofQueues, "queue_type", word)
		}
	}
	byType("messages_delivered_total", "Messages delivered or fetched", queuestats.Delivered, queuestats.DeliveredNoAck, queuestats.Got, queuestats.GotNoAck)
	byType("messages_delivered_consume_manual_ack_total", "Messages delivered to consumers with manual acknowledgement", queuestats.Delivered)
	byType("messages_delivered_consume_auto_ack_total", "Messages delivered to consumers with automatic acknowledgement", queuestats.DeliveredNoAck)
	byType("messages_delivered_get_manual_ack_total", "Messages fetched by basic.get with manual acknowledgement", queuestats.Got)
	byType("messages_delivered_get_auto_ack_total", "Messages fetched by basic.get with automatic acknowledgement", queuestats.GotNoAck)
	byType("messages_get_empty_total", "Calls of basic.get that found the queue empty", queuestats.GotNothing)
	byType("messages_redelivered_total", "Messages redelivered", queuestats.Redelivered)
	byType("messages_acknowledged_total", "Messages acknowledged", queuestats.Acked)
}

// logins are attempts by protocol.
func logins(w *writer, m *management.Metrics) {
	logins := func(name, help string, of func(*auth.Logins) uint64) {
		w.counter("rabbitmq_auth_attempts_"+name, help, of(&m.Logins.AMQP091), "protocol", protocolNames[management.AMQP091])
		w.counter("rabbitmq_auth_attempts_"+name, help, of(&m.Logins.AMQP10), "protocol", protocolNames[management.AMQP10])
		w.counter("rabbitmq_auth_attempts_"+name, help, of(&m.Logins.HTTP), "protocol", "http")
	}
	logins("total", "Login attempts", func(l *auth.Logins) uint64 { return l.Succeeded + l.Failed })
	logins("succeeded_total", "Successful logins", func(l *auth.Logins) uint64 { return l.Succeeded })
	logins("failed_total", "Refused logins", func(l *auth.Logins) uint64 { return l.Failed })
}

// died are dead letters by reason and strategy.
func died(w *writer, m *management.Metrics) {
	d := &m.DeadLetters
	died := func(name, help string, of *management.Deaths) {
		name = "rabbitmq_global_messages_dead_lettered_" + name + "_total"
		w.counter(name, help, of.AtLeastOnce, "dead_letter_strategy", "at_least_once")
		w.counter(name, help, of.AtMostOnce, "dead_letter_strategy", "at_most_once")
		w.counter(name, help, of.Disabled, "dead_letter_strategy", "disabled")
	}
	died("expired", "Messages dead-lettered because they expired", &d.Expired)
	died("rejected", "Messages dead-lettered because a consumer rejected them", &d.Rejected)
	died("maxlen", "Messages dead-lettered because of the length limit", &d.MaxLen)
	died("delivery_limit", "Messages dead-lettered because of the delivery limit", &d.DeliveryLimit)
	confirmed := uint64(0)
	for _, r := range reasons(d) {
		confirmed += r.of.Confirmed
	}
	w.counter("rabbitmq_global_messages_dead_lettered_confirmed_total", "Dead letters confirmed by all of their target queues", confirmed)
}

// reason is a reason for dead-lettering.
type reason struct {
	name string
	of   *management.Deaths
}

func reasons(d *management.DeadLetters) []reason {
	return []reason{
		{"expired", &d.Expired}, {"rejected", &d.Rejected}, {"maxlen", &d.MaxLen}, {"delivery_limit", &d.DeliveryLimit}, {"hops", &d.Hops}, {"copies", &d.Copies}, {"rule_failed", &d.RuleFailed},
	}
}
