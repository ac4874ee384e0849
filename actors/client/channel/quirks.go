package channel

// quirk describes how a client library's expectations differ from RabbitMQ 4.
type quirk struct {
	// resizes: basic.qos with global=false also sets the prefetch of existing consumers.
	resizes bool
}

// quirks by the client property product (PRO-18).
var quirks = map[string]quirk{
	// kombu, on py-amqp, assumes for any product except RabbitMQ that global=false works as in AMQP 0-9-1: for the
	// whole channel, at once. Celery raises it by one for every task with an ETA that it holds; otherwise a worker
	// would stop once it holds as many as its initial prefetch. The limit remains per consumer, so that no consumer
	// gets fewer messages than from RabbitMQ.
	"py-amqp": {resizes: true},
}
