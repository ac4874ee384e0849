package session10

import (
	"cmp"
	"errors"

	"candlemark/actors/client/session10/entities"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// toEntity sets the target of a link to a queue or, if there is no queue of that name, to the exchange of a topic.
func toEntity(s *state, p *publisher, address string) error {
	name, err := servicebus.ParseTarget(address)
	if err != nil {
		return err
	}
	may, err := s.access.RightsAt(address)
	if err != nil {
		return err
	}
	exchange, key, err := may.MaySend(name)
	p.Entity, p.Address, p.Exchange, p.Key = true, address, []byte(exchange), []byte(key)
	p.MaxMessageSize = maxEntityMessage(s, cmp.Or(exchange, key))
	return err
}

// maxEntityMessage returns the size of the largest message or batch to an entity, in bytes (SBE-17).
func maxEntityMessage(s *state, name string) uint64 {
	largest := s.cfg.MaxEntityMessage
	if kilobytes := s.cfg.Statuses.Maximum(s.cfg.VHost.Name, name); kilobytes > 0 {
		largest = uint64(kilobytes) << 10
	}
	return min(largest, s.cfg.MaxMessage)
}

// attachFailed refuses a link: the link is attached without target or source and then detached. Some errors in RabbitMQ's dialect end the session instead.
func attachFailed(s *state, m *amqp10.Attach, err error) {
	var whole *protocol.ConnectionError
	if errors.As(err, &whole) || s.links[m.Handle] != nil || !entities.UsesServiceBus(m) && dialect.EndsSession(err) {
		s.fail(err)
		return
	}
	s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, closing: true}
	s.reply(entities.RefusedAttach(m))
	s.reply(&amqp10.Detach{Handle: m.Handle, Closed: true, Error: entities.RefusedLink(err)})
}

// entityNode returns the node of an entity.
func entityNode(s *state, address, queue string) *entities.Node {
	return &entities.Node{
		Queue: queue, Access: &s.access, Address: address, MaxMessage: maxEntityMessage(s, queue), Send: s.Send, Ask: s.request, Self: s.Self(), Connection: s.cfg.Connection,
		Know:   func(queue mail.Address) { s.peers.Of(queue) },
		Counts: &s.counts, Trace: func(queue string, d *mail.Delivery) { traceDelivery(s, queue, d) },
		Cancelled: s.eventPublisher.Cancelled,
		Publish: func(q *topology.Queue, all [][]byte, done func([]uint64, error)) {
			publishNumbered(s, address, q, all, done)
		},
	}
}

// attachDynamic attaches a link to a node that the broker creates for it: a name for direct replies, or an exclusive queue.
func attachDynamic(s *state, m *amqp10.Attach) error {
	if dialect.IsVolatile(m) {
		return attachReplies(s, m)
	}
	return s.temporary.Attach(m, func(at *amqp10.Attach) error {
		if m.Role == amqp10.RoleSender {
			return attachPublisher(s, at)
		}
		return attachConsumer(s, at)
	}, func(err error) { attachFailed(s, m, err) })
}
