package servicebus

import (
	"slices"

	"candlemark/internal/measure/clock"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Conditions of errors that clients act on.
const (
	LockLost        amqp10.Symbol = "com.microsoft:message-lock-lost"
	MessageNotFound amqp10.Symbol = "com.microsoft:message-not-found"
	EntityDisabled  amqp10.Symbol = "com.microsoft:entity-disabled"
)

// ErrLockLost is the error for a lock that the client no longer holds.
func ErrLockLost() *amqp10.Error {
	return amqp10.Errorf(LockLost,
		"The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.")
}

// ErrNotFound is the error for sequence numbers without messages.
func ErrNotFound() *amqp10.Error {
	return amqp10.Errorf(MessageNotFound, "no message has this sequence number, or the message is no longer available")
}

// ErrDisabled is the error for an action, such as "sending to", that the status of an entity forbids.
func ErrDisabled(what, entity string) *amqp10.Error {
	return amqp10.Errorf(EntityDisabled, "%s '%s' is disabled", what, entity)
}

// Properties with which a client, or the broker, explains a dead letter.
const (
	DeadLetterReason      = "DeadLetterReason"
	DeadLetterDescription = "DeadLetterErrorDescription"
)

// DeadLettering returns the properties for dead-lettering a rejected message: the client's reason and description,
// which are texts, and other properties it set. Values without a 0-9-1 type are left out.
func DeadLettering(e *amqp10.Error) protocol.Table {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(dialect.Amendments(e.Info), func(f protocol.Field) bool {
		_, isText := f.Value.(string)
		return !isText && (f.Key == DeadLetterReason || f.Key == DeadLetterDescription)
	})
}

// Modified returns the properties that a client set on a message that it abandons or defers, without the properties
// that delay the next delivery (RETRY-5). Values without a 0-9-1 type are left out.
func Modified(given amqp10.Map) protocol.Table {
	return slices.DeleteFunc(dialect.Amendments(given), func(f protocol.Field) bool { return dialect.IsDelay(f.Key) })
}

// DelayIn returns the date, in wall ms, until which an abandoned message is delayed by the properties that the client set,
// 0 for none (RETRY-5). deferred means that the client defers the message instead. The error is amqp:precondition-failed for
// an invalid delay, and amqp:not-allowed for a delay of a deferred message.
func DelayIn(given amqp10.Map, deferred bool, c *clock.Clock) (date int64, err error) {
	d, err := dialect.DelayIn(given)
	if err == nil && deferred && d != (dialect.Delay{}) {
		err = amqp10.Errorf(amqp10.NotAllowed, "a deferred message is received by its number only: its delivery cannot be delayed")
	}
	if err != nil {
		return 0, err
	}
	return d.Until(c)
}
