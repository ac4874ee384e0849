package amqp10

import "fmt"

// Conditions of errors [AMQP 1.0 transport 2.8.14-18, transactions 4.5.8, security 5.3.3].
const (
	InternalError         Symbol = "amqp:internal-error"
	NotFound              Symbol = "amqp:not-found"
	UnauthorizedAccess    Symbol = "amqp:unauthorized-access"
	DecodeError           Symbol = "amqp:decode-error"
	ResourceLimitExceeded Symbol = "amqp:resource-limit-exceeded"
	NotAllowed            Symbol = "amqp:not-allowed"
	InvalidField          Symbol = "amqp:invalid-field"
	NotImplemented        Symbol = "amqp:not-implemented"
	ResourceLocked        Symbol = "amqp:resource-locked"
	PreconditionFailed    Symbol = "amqp:precondition-failed"
	ResourceDeleted       Symbol = "amqp:resource-deleted"
	IllegalState          Symbol = "amqp:illegal-state"
	FrameSizeTooSmall     Symbol = "amqp:frame-size-too-small"

	ConnectionForced Symbol = "amqp:connection:forced"
	FramingError     Symbol = "amqp:connection:framing-error"

	WindowViolation  Symbol = "amqp:session:window-violation"
	ErrantLink       Symbol = "amqp:session:errant-link"
	HandleInUse      Symbol = "amqp:session:handle-in-use"
	UnattachedHandle Symbol = "amqp:session:unattached-handle"

	DetachForced          Symbol = "amqp:link:detach-forced"
	TransferLimitExceeded Symbol = "amqp:link:transfer-limit-exceeded"
	MessageSizeExceeded   Symbol = "amqp:link:message-size-exceeded"
	LinkStolen            Symbol = "amqp:link:stolen"
)

// Error is the composite "error" and, as a Go error, the error of decoding [AMQP 1.0 transport 2.8.14].
type Error struct {
	Condition   Symbol
	Description string
	Info        Map
}

// Errorf makes an Error.
func Errorf(condition Symbol, format string, args ...any) *Error {
	return &Error{Condition: condition, Description: fmt.Sprintf(format, args...)}
}

// Error returns condition and description for logs.
func (e *Error) Error() string { return string(e.Condition) + ": " + e.Description }

func (e *Error) fields(f *fields) {
	defaulted(f, &e.Condition, "") // required by the specification, but RabbitMQ's client for Erlang ends sessions with an error without one
	defaulted(f, &e.Description, "")
	nullable(f, &e.Info)
}

// fault is why a cursor stopped.
type fault uint8

const (
	sound     fault = iota
	malformed       // bytes without a valid value: amqp:decode-error
	mismatch        // a value that is not allowed there: amqp:invalid-field
)

// condition returns the condition of an error with that cause.
func (f fault) condition() Symbol {
	if f == mismatch {
		return InvalidField
	}
	return DecodeError
}
