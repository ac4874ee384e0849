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

// ParseTarget reads the address of an entity to send to. The error is amqp:not-allowed if nothing can be sent there.
func ParseTarget(address string) (name string, err error) {
	a := entity.ParseAddress(address)
	if a.Subscription != "" || a.Sub != "" || a.Management {
		return "", amqp10.Errorf(amqp10.NotAllowed, "messages cannot be sent to '%s'", address)
	}
	return a.Entity, nil
}

// MaySchedule reports whether the node of an address belongs to an entity that messages may be sent to.
func MaySchedule(address string) bool {
	a := entity.ParseAddress(address)
	return a.Subscription == "" && a.Sub == ""
}

// ParseNode reads the address of an entity's node, ENTITY/$management; ok is false for other addresses. The name is the
// name of the entity's queue, or of the topic.
func ParseNode(address string) (name string, ok bool) {
	a := entity.ParseAddress(address)
	return a.QueueName(), a.Management && Is(address)
}

// IsEmpty reports whether an address leads to a transfer dead-letter queue, or to its node. Such a queue is always
// empty: messages that cannot be forwarded stay in the entity's queue and are tried again.
func IsEmpty(address string) bool {
	return entity.ParseAddress(address).Sub == entity.TransferDeadLetters
}

// IsDeadLetters reports whether an address leads to a dead-letter queue, or to its node.
func IsDeadLetters(address string) bool {
	return entity.ParseAddress(address).Sub == entity.DeadLetters
}

// ParseSource reads the address of an entity to receive from, and returns the name of its queue; for a transfer
// dead-letter queue, see [IsEmpty], the entity's queue. The error is amqp:not-implemented.
func ParseSource(address string) (queue string, err error) {
	a := entity.ParseAddress(address)
	if a.Management {
		return "", amqp10.Errorf(amqp10.NotImplemented, "'%s' is not supported", address)
	}
	return a.QueueName(), nil
}

// ParseAudience reads the audience of a token, such as amqp://host/ENTITY/$management, and returns the names of the
// entity's queue and of the topic that it may be; "" if it is for no entity.
func ParseAudience(audience string) (queue, topic string) {
	a := entity.ParseAddress(audience)
	return a.QueueName(), a.Entity
}
