package session10

import (
	"errors"

	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// attachFailed refuses a link: the link is attached without target or source and then detached. Some errors in RabbitMQ's dialect end the session instead.
func (s *state) attachFailed(m *amqp10.Attach, d dialects.Dialect, err error) {
	var whole *protocol.ConnectionError
	if errors.As(err, &whole) || s.links[m.Handle] != nil || d.EndsSession(err) {
		s.fail(err)
		return
	}
	s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, closing: true}
	s.output.reply(entities.RefusedAttach(m))
	s.output.reply(&amqp10.Detach{Handle: m.Handle, Closed: true, Error: entities.RefusedLink(err)})
}

// attachDynamic attaches a link to a node that the broker creates for it: a name for direct replies, or an exclusive queue.
func (s *state) attachDynamic(m *amqp10.Attach, d dialects.Dialect) error {
	if dialect.IsVolatile(m) {
		return s.answering.attachReplies(m)
	}
	return s.temporary.Attach(m, func(at *amqp10.Attach) error {
		own, err := dialects.Of(at, &s.access, &s.limits)
		switch {
		case err != nil:
			return err
		case m.Role == amqp10.RoleSender:
			return s.attachPublisher(at, own)
		}
		return s.attachConsumer(at, own)
	}, func(err error) { s.attachFailed(m, d, err) })
}
