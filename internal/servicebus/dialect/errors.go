package dialect

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// ErrorOf translates an error for a client of AMQP 1.0: an *amqp10.Error unchanged, exceptions of 0-9-1 with the
// conditions for their reply codes, anything else as an internal error without its text.
func ErrorOf(err error) *amqp10.Error {
	var own *amqp10.Error
	if errors.As(err, &own) {
		return own
	}
	var channel *protocol.ChannelError
	if errors.As(err, &channel) {
		return &amqp10.Error{Condition: conditionOf(channel.Code), Description: plain(channel.Code, channel.Text)}
	}
	var connection *protocol.ConnectionError
	if errors.As(err, &connection) {
		return &amqp10.Error{Condition: conditionOf(connection.Code), Description: plain(connection.Code, connection.Text)}
	}
	return &amqp10.Error{Condition: amqp10.InternalError, Description: "the broker failed"}
}

// EndsSession reports whether an attach that is refused with that error ends the session, as in RabbitMQ. Others refuse
// only the link.
func EndsSession(err error) bool {
	return slices.Contains([]amqp10.Symbol{amqp10.UnauthorizedAccess, amqp10.NotImplemented, amqp10.NotAllowed}, ErrorOf(err).Condition)
}

// plain returns a text of 0-9-1 as RabbitMQ sends it to clients of AMQP 1.0: without the name of its code.
func plain(code uint16, text string) string {
	name, rest, named := strings.Cut(text, " - ")
	if named && name == strings.ToUpper(name) {
		text = rest
	}
	if code == protocol.ResourceLocked {
		text, _, _ = strings.Cut(text, ". It could be originally declared")
	}
	if code == protocol.ConnectionForced {
		return "Connection forced: " + strconv.Quote(text)
	}
	return text
}

// conditionOf translates a reply code.
func conditionOf(code uint16) amqp10.Symbol {
	switch code {
	case protocol.NotFound:
		return amqp10.NotFound
	case protocol.AccessRefused:
		return amqp10.UnauthorizedAccess
	case protocol.NotAllowed:
		return amqp10.NotAllowed
	case protocol.ResourceLocked:
		return amqp10.ResourceLocked
	case protocol.PreconditionFailed:
		return amqp10.PreconditionFailed
	case protocol.ResourceError:
		return amqp10.ResourceLimitExceeded
	case protocol.NotImplemented:
		return amqp10.NotImplemented
	case protocol.ConnectionForced:
		return amqp10.ConnectionForced
	case protocol.FrameErr, protocol.UnexpectedFrame:
		return amqp10.FramingError
	}
	return amqp10.InternalError
}
