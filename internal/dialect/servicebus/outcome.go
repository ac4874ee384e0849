package servicebus

import (
	"slices"

	"candlemark/internal/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Conditions of errors that clients act on.
const (
	LockLost        amqp10.Symbol = "com.microsoft:message-lock-lost"
	MessageNotFound amqp10.Symbol = "com.microsoft:message-not-found"
	EntityDisabled  amqp10.Symbol = "com.microsoft:entity-disabled"
)

// ErrLockLost is the error of a lock that the client does not hold any more.
func ErrLockLost() *amqp10.Error {
	return amqp10.Errorf(LockLost,
		"The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.")
}

// ErrNotFound is the error of sequence numbers without messages.
func ErrNotFound() *amqp10.Error {
	return amqp10.Errorf(MessageNotFound, "no message has that number, or it is not to be had any more")
}

// ErrDisabled is the error of an action, such as "sending to", that the status of an entity forbids.
func ErrDisabled(what, entity string) *amqp10.Error {
	return amqp10.Errorf(EntityDisabled, "%s '%s' is disabled", what, entity)
}

// Properties with which a client, or the broker, explains a dead letter.
const (
	DeadLetterReason      = "DeadLetterReason"
	DeadLetterDescription = "DeadLetterErrorDescription"
)

// DeadLettering returns the properties that a rejected message is dead-lettered with: the reason and the description
// that its client gave, which are texts, and others that it set. Values that 0-9-1 has no type for are left out.
func DeadLettering(e *amqp10.Error) protocol.Table {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(dialect.Amendments(e.Info), func(f protocol.Field) bool {
		_, isText := f.Value.(string)
		return !isText && (f.Key == DeadLetterReason || f.Key == DeadLetterDescription)
	})
}

// Modified returns the properties that a client has given a message that it abandons or defers. Values that 0-9-1 has
// no type for are left out.
func Modified(s *amqp10.State) protocol.Table {
	return dialect.Amendments(s.MessageAnnotations)
}
