package channel

// quirk says where a client library expects something else than RabbitMQ 4 does.
type quirk struct {
	// resizes: basic.qos with global=false also sets the prefetch of consumers
	// that are there.
	resizes bool
}

// quirks are kept by the client property product (PRO-18).
var quirks = map[string]quirk{
	// kombu, above py-amqp, takes any product but RabbitMQ for one that reads
	// global=false as AMQP 0-9-1 has it: for the whole channel, at once. Celery
	// raises it by one for every task with an ETA that it holds; a worker would
	// stop as soon as it holds as many as it began with. The limit stays one per
	// consumer, so that nothing gets less than from RabbitMQ.
	"py-amqp": {resizes: true},
}
