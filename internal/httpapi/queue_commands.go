package httpapi

import (
	"math"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// perform has the broker carry out a method as the user.
func perform(r *request, m protocol.Method) error {
	_, err := r.broker.Run(r.Context(), r.user, r.vhost, m)
	return declined(err)
}

// putQueue declares one: 201 if it is new, 204 if it was there, 400 if that one
// is another. As in RabbitMQ nothing can be exclusive that has no connection.
func putQueue(r *request) (any, error) {
	if err := r.permitted(auth.Queue, r.name, auth.Configure); err != nil {
		return nil, declined(err)
	}
	b, err := r.json()
	if err != nil {
		return nil, err
	}
	named(b, "queue", r.name)
	m := &protocol.QueueDeclare{Queue: r.name, Durable: b.flag("durable"), AutoDelete: b.flag("auto_delete"), Arguments: b.table("arguments")}
	if b.err != nil {
		return nil, b.err
	}
	_, err = r.broker.Queue(r.Context(), r.vhost, r.name)
	return stored(err != nil), perform(r, m)
}

// named complains of a name that AMQP cannot carry.
func named(b *body, kind, name string) {
	if len(name) > math.MaxUint8 {
		b.fail(complaintf("%s name should be less than 255 bytes, actually was %d", kind, len(name)))
	}
}

// atQueue has the broker carry out a method if there is the queue of the path.
func atQueue(r *request, m protocol.Method) error {
	if _, err := r.broker.Queue(r.Context(), r.vhost, r.name); err != nil {
		return err
	}
	return perform(r, m)
}

func deleteQueue(r *request) (any, error) {
	query := r.URL.Query()
	return nil, atQueue(r, &protocol.QueueDelete{
		Queue: r.name, IfUnused: query.Get("if-unused") == "true", IfEmpty: query.Get("if-empty") == "true",
	})
}

func purgeQueue(r *request) (any, error) {
	return nil, atQueue(r, &protocol.QueuePurge{Queue: r.name})
}
