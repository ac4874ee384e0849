package topology

import (
	"math"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/protocol"
)

// perform has the broker carry out a method as the user.
func perform(r *rest.Request, m protocol.Method) error {
	_, err := r.Broker.Run(r.Context(), r.User, r.VHost, m)
	return rest.Declined(err)
}

// putQueue declares one: 201 if it is new, 204 if it was there, 400 if that one
// is another. As in RabbitMQ nothing can be exclusive that has no connection.
func putQueue(r *rest.Request) (any, error) {
	if err := r.Permitted(auth.Queue, r.Name, auth.Configure); err != nil {
		return nil, rest.Declined(err)
	}
	b := r.JSON()
	named(b, "queue", r.Name)
	m := &protocol.QueueDeclare{Queue: r.Name, Durable: b.Flag("durable"), AutoDelete: b.Flag("auto_delete"), Arguments: b.Table("arguments")}
	if b.Err != nil {
		return nil, b.Err
	}
	_, err := r.Broker.Queue(r.Context(), r.VHost, r.Name)
	return rest.Stored(err != nil), perform(r, m)
}

// named complains of a name that AMQP cannot carry.
func named(b *rest.Body, kind, name string) {
	if len(name) > math.MaxUint8 {
		b.Fail(rest.Complaintf("%s name should be less than 255 bytes, actually was %d", kind, len(name)))
	}
}

// atQueue has the broker carry out a method if there is the queue of the path.
func atQueue(r *rest.Request, m protocol.Method) error {
	if _, err := r.Broker.Queue(r.Context(), r.VHost, r.Name); err != nil {
		return err
	}
	return perform(r, m)
}

func deleteQueue(r *rest.Request) (any, error) {
	query := r.URL.Query()
	return nil, atQueue(r, &protocol.QueueDelete{
		Queue: r.Name, IfUnused: query.Get("if-unused") == "true", IfEmpty: query.Get("if-empty") == "true",
	})
}

func purgeQueue(r *rest.Request) (any, error) {
	return nil, atQueue(r, &protocol.QueuePurge{Queue: r.Name})
}
