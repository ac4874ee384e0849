package node

// plugins are RabbitMQ's plugins whose features the broker has itself.
var plugins = []string{
	"rabbitmq_amqp1_0", "rabbitmq_auth_mechanism_ssl", "rabbitmq_consistent_hash_exchange", "rabbitmq_delayed_message_exchange",
	"rabbitmq_event_exchange", "rabbitmq_management", "rabbitmq_management_agent", "rabbitmq_prometheus", "rabbitmq_random_exchange",
	"rabbitmq_recent_history_exchange", "rabbitmq_shovel", "rabbitmq_shovel_management", "rabbitmq_web_dispatch",
}
