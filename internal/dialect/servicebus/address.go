package servicebus

import (
	"strings"

	"candlemark/internal/servicebus/entity"
	"candlemark/protocol/amqp10"
)

// Is reports whether an address, of a link's target or source, is of this dialect: a plain name, where RabbitMQ's begin
// with a slash.
func Is(address string) bool { return address != "" && !strings.HasPrefix(address, "/") }

// IsRabbitMQs reports whether an address with a slash in front has the form of RabbitMQ's.
func IsRabbitMQs(address string) bool {
	return strings.HasPrefix(address, "/queues/") || strings.HasPrefix(address, "/exchanges/") || address == "/management"
}

// Renamed is an address with another name of its queue, or topic: one that differs in case only.
func Renamed(address, name string) string { return entity.Renamed(address, name) }

// ParseTarget reads the address of an entity to send to. The error is amqp:not-allowed, for what cannot be sent to.
func ParseTarget(address string) (name string, err error) {
	a := entity.ParseAddress(address)
	if a.Subscription != "" || a.Sub != "" || a.Management {
		return "", amqp10.Errorf(amqp10.NotAllowed, "messages cannot be sent to '%s'", address)
	}
	return a.Entity, nil
}

// MaySchedule reports whether the node of an address is that of an entity that messages may be sent to.
func MaySchedule(address string) bool {
	a := entity.ParseAddress(address)
	return a.Subscription == "" && a.Sub == ""
}

// ParseNode reads the address of an entity's node, ENTITY/$management; false: it is none. The name is that of the entity's queue, or of the topic.
func ParseNode(address string) (name string, ok bool) {
	a := entity.ParseAddress(address)
	return a.QueueName(), a.Management && Is(address)
}

// IsEmpty reports whether an address is that of a transfer dead-letter queue, or of its node. Nothing ever is in one:
// what cannot be forwarded stays in the entity's queue and is tried again.
func IsEmpty(address string) bool {
	return entity.ParseAddress(address).Sub == entity.TransferDeadLetters
}

// IsDeadLetters reports whether an address is that of a dead-letter queue, or of its node.
func IsDeadLetters(address string) bool {
	return entity.ParseAddress(address).Sub == entity.DeadLetters
}

// ParseSource reads the address of an entity to receive from, and returns the name of its queue; of a transfer dead-letter queue, see [IsEmpty], that of
// the entity's. The error is amqp:not-implemented.
func ParseSource(address string) (queue string, err error) {
	a := entity.ParseAddress(address)
	if a.Management {
		return "", amqp10.Errorf(amqp10.NotImplemented, "'%s' is not supported", address)
	}
	return a.QueueName(), nil
}

// ParseAudience reads what a token is for, such as amqp://host/ENTITY/$management, and returns the names of the entity's queue and of the topic that
// it may be; "" if it is for no entity.
func ParseAudience(audience string) (queue, topic string) {
	a := entity.ParseAddress(audience)
	return a.QueueName(), a.Entity
}
