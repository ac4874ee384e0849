package servicebus

import (
	"strings"

	"candlemark/internal/servicebus/entity"
	"candlemark/protocol/amqp10"
)

// Is reports whether the address of a link's target or source belongs to this dialect: a plain name, while RabbitMQ's
// begin with a slash.
func Is(address string) bool { return address != "" && !strings.HasPrefix(address, "/") }

// IsRabbitMQs reports whether an address that begins with a slash has RabbitMQ's form.
func IsRabbitMQs(address string) bool {
	return strings.HasPrefix(address, "/queues/") || strings.HasPrefix(address, "/exchanges/") || address == "/management"
}

// Renamed returns an address with another name of its queue, or topic, that differs only in case.
func Renamed(address, name string) string { return entity.Renamed(address, name) }

// Address is the parsed address of an entity, of its sub-queue, or of its node.
type Address struct {
	Text string // as the client has given it
	entity.Address
}

// Parse parses an address. It never fails: names are not checked.
func Parse(address string) Address { return Address{address, entity.ParseAddress(address)} }

// Target returns the name of the entity to send to. The error is amqp:not-allowed if nothing can be sent there.
func (a *Address) Target() (name string, err error) {
	if a.Subscription != "" || a.Sub != "" || a.Management {
		return "", amqp10.Errorf(amqp10.NotAllowed, "messages cannot be sent to '%s'", a.Text)
	}
	return a.Entity, nil
}

// MaySchedule reports whether the node at the address belongs to an entity that messages may be sent to.
func (a *Address) MaySchedule() bool { return a.Subscription == "" && a.Sub == "" }

// IsNode reports whether it is the address of an entity's node, ENTITY/$management.
func (a *Address) IsNode() bool { return a.Management && Is(a.Text) }

// IsEmpty reports whether it leads to a transfer dead-letter queue, or to its node. Such a queue is always empty: messages
// that cannot be forwarded stay in the entity's queue and are tried again.
func (a *Address) IsEmpty() bool { return a.Sub == entity.TransferDeadLetters }

// IsDeadLetters reports whether it leads to a dead-letter queue, or to its node.
func (a *Address) IsDeadLetters() bool { return a.Sub == entity.DeadLetters }

// Source returns the name of the queue of the entity to receive from; for a transfer dead-letter queue, see
// [Address.IsEmpty], the entity's queue. The error is amqp:not-implemented.
func (a *Address) Source() (queue string, err error) {
	if a.Management {
		return "", amqp10.Errorf(amqp10.NotImplemented, "'%s' is not supported", a.Text)
	}
	return a.QueueName(), nil
}

// ParseAudience reads the audience of a token, such as amqp://host/ENTITY/$management, and returns the names of the
// entity's queue and of the topic that it may be; "" if it is for no entity.
func ParseAudience(audience string) (queue, topic string) {
	a := entity.ParseAddress(audience)
	return a.QueueName(), a.Entity
}
