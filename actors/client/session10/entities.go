package session10

import (
	"errors"

	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// attachFailed refuses a link: the link is attached without target or source and then detached. Some errors in RabbitMQ's dialect end the session instead.
func attachFailed(s *state, m *amqp10.Attach, d dialects.Dialect, err error) {
	var whole *protocol.ConnectionError
	if errors.As(err, &whole) || s.links[m.Handle] != nil || d.EndsSession(err) {
		s.fail(err)
		return
	}
	s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, closing: true}
	s.reply(entities.RefusedAttach(m))
	s.reply(&amqp10.Detach{Handle: m.Handle, Closed: true, Error: entities.RefusedLink(err)})
}

// entityNode returns the node of an entity.
func entityNode(s *state, address servicebus.Address) *entities.Node {
	return &entities.Node{
		Queue: address.QueueName(), Access: &s.access, Address: address, MaxMessage: s.limits.Largest(&s.access, address.QueueName()), Send: s.Send, Ask: s.request, Self: s.Self(), Connection: s.cfg.Connection,
		Know:   func(queue mail.Address) { s.peers.Of(queue) },
		Counts: &s.counts, Trace: func(queue string, d *mail.Delivery) { traceDelivery(s, queue, d) },
		Cancelled: s.eventPublisher.Cancelled,
		Publish: func(q *topology.Queue, all [][]byte, done func([]uint64, error)) {
			publishNumbered(s, address, q, all, done)
		},
	}
}

// attachDynamic attaches a link to a node that the broker creates for it: a name for direct replies, or an exclusive queue.
func attachDynamic(s *state, m *amqp10.Attach, d dialects.Dialect) error {
	if dialect.IsVolatile(m) {
		return attachReplies(s, m)
	}
	return s.temporary.Attach(m, func(at *amqp10.Attach) error {
		own, err := dialects.Of(at, &s.access, &s.limits)
		switch {
		case err != nil:
			return err
		case m.Role == amqp10.RoleSender:
			return attachPublisher(s, at, own)
		}
		return attachConsumer(s, at, own)
	}, func(err error) { attachFailed(s, m, d, err) })
}
