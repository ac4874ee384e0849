package policies

import (
	"fmt"
	"slices"
	"strconv"

	"candlemark/internal/text/erlang"
	"candlemark/protocol"
)

// The arguments that several files name, except names that consist of "x-" and a policy key.
const (
	argQueueType    = "x-queue-type"
	argMaxPriority  = "x-" + keyMaxPriority
	argSingleActive = "x-" + keySingleActive
	argDLX          = "x-" + keyDeadLetterExchange
)

const (
	// maxExpiry is the highest TTL and lease in arguments, in ms: ten years
	// (TTL-2, LEASE-1). Policies have no such bound.
	maxExpiry = 315_360_000_000
	// maxPriority is the highest x-max-priority (DEC-11).
	maxPriority = 255
	// Quorum queues have priorities without an argument; the lower ones count as one (DEC-11).
	quorumMaxPriority, quorumNormalPriority = 31, 4
)

// exchangeArguments are the arguments of delayed exchanges besides their type.
var exchangeArguments = []checked{
	{"x-" + keyOverdue, onExch, checkEnum("invalid_overdue_messages", OverdueDeliver, OverdueDrop)},
	{"x-" + keyReleaseRate, onExch, checkPositive},
}

// ValidateQueueArguments checks the arguments of a new queue, after
// WithQueueType has filled in its type. The error is 406 PRECONDITION_FAILED
// with RabbitMQ's text for the first thing wrong, in RabbitMQ's order: the type
// of x-dead-letter-exchange (DL-2), x-queue-type, the values (TTL-3, TTL-4,
// LEASE-1, DL-4 to DL-6, DEC-11), then arguments of other queue types (DEC-7).
// Unknown arguments may have any value. Streams are refused.
func ValidateQueueArguments(name, vhost string, args protocol.Table) *protocol.ChannelError {
	if v, ok := args.Get(argDLX); ok && checkString(v, args) != "" {
		return preconditionFailed("invalid type '%s' for arg '%s' in %s",
			protocol.TypeName(v), argDLX, queueText(name, vhost))
	}
	if v, ok := args.Get(argQueueType); ok {
		if term := checkQueueType(v, args); term != "" {
			return invalidArgument(argQueueType, name, vhost, term)
		}
	}
	return validate(queueArguments, name, vhost, KindOf(args), args)
}

// queueArguments are the arguments of queue.declare, in the order of the table.
var queueArguments = func() (list []checked) {
	for i := range allKeys {
		if a := &allKeys[i].argument; a.check != nil {
			list = append(list, checked{"x-" + allKeys[i].name, a.on, a.check})
		}
	}
	return list
}()

// checked is an argument of a method that some types of queues know. check returns the error in v as an Erlang term, "" if v is
// valid.
type checked struct {
	name  string
	on    kinds
	check func(v any, args protocol.Table) string
}

// validate checks the values of arguments known to this kind of queue, then that there are none known only to other
// kinds.
func validate(known []checked, name, vhost string, kind Kind, args protocol.Table) *protocol.ChannelError {
	for _, a := range known {
		if v, given := args.Get(a.name); given && a.on.has(kind) {
			if term := a.check(v, args); term != "" {
				return invalidArgument(a.name, name, vhost, term)
			}
		}
	}
	for _, f := range args {
		if slices.ContainsFunc(known, func(a checked) bool { return a.name == f.Key && !a.on.has(kind) }) &&
			(f.Key != "x-"+keyDeliveryLimit || !delaysRetries(args)) {
			return preconditionFailed("invalid arg '%s' for %s of queue type %s", f.Key, queueText(name, vhost), kind.module())
		}
	}
	return nil
}

// ValidateExchangeArguments checks the arguments of a new exchange: an
// alternate exchange must be a string (DEC-14), and how a delayed exchange
// releases its messages. The error is 406.
func ValidateExchangeArguments(name, vhost string, args protocol.Table) *protocol.ChannelError {
	if v, ok := args.Get(keyAlternateExchange); ok && checkString(v, args) != "" {
		return preconditionFailed("invalid type '%s' for arg '%s' in %s",
			protocol.TypeName(v), keyAlternateExchange, exchangeText(name, vhost))
	}
	for _, a := range exchangeArguments {
		if v, ok := args.Get(a.name); ok {
			if term := a.check(v, args); term != "" {
				return preconditionFailed("invalid arg '%s' for %s: %s", a.name, exchangeText(name, vhost), term)
			}
		}
	}
	return nil
}

func preconditionFailed(format string, args ...any) *protocol.ChannelError {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, format, args...)
}

func invalidArgument(key, name, vhost, term string) *protocol.ChannelError {
	return preconditionFailed("invalid arg '%s' for %s: %s", key, queueText(name, vhost), term)
}

func queueText(name, vhost string) string { return "queue '" + name + "' in vhost '" + vhost + "'" }

func exchangeText(name, vhost string) string {
	return "exchange '" + name + "' in vhost '" + vhost + "'"
}

func checkNothing(any, protocol.Table) string { return "" }

// checkRange accepts the integer types of TTL-1 within bounds.
func checkRange(v any, low, high int64, tooHigh string) string {
	n, ok := protocol.Int64(v)
	switch {
	case !ok:
		return erlang.String("expected integer, got " + protocol.TypeName(v))
	case n == 0 && low == 1:
		return "{value_zero,0}"
	case n < low:
		return "{value_negative," + strconv.FormatInt(n, 10) + "}"
	case n > high:
		return "{" + tooHigh + "," + strconv.FormatInt(n, 10) + "}"
	}
	return ""
}

func checkExpires(v any, _ protocol.Table) string {
	return checkRange(v, 1, maxExpiry, "value_too_large")
}

func checkMessageTTL(v any, _ protocol.Table) string {
	return checkRange(v, 0, maxExpiry, "value_too_large")
}

func checkNotNegative(v any, _ protocol.Table) string { return checkRange(v, 0, 1<<63-1, "") }
func checkPositive(v any, _ protocol.Table) string    { return checkRange(v, 1, 1<<63-1, "") }

func checkMaxPriority(v any, _ protocol.Table) string {
	return checkRange(v, 0, maxPriority, "max_value_exceeded")
}

func checkQueueVersion(v any, _ protocol.Table) string {
	if term := checkRange(v, 0, 1<<63-1, ""); term != "" {
		return term
	}
	if n, _ := protocol.Int64(v); n != 1 && n != 2 {
		return erlang.String(fmt.Sprintf("unsupported queue version '%d'", n))
	}
	return ""
}

func unacceptableType(v any) string { return "{unacceptable_type," + protocol.TypeName(v) + "}" }

func checkString(v any, _ protocol.Table) string {
	if _, ok := v.(string); !ok {
		return unacceptableType(v)
	}
	return ""
}

func checkBool(v any, _ protocol.Table) string {
	if _, ok := v.(bool); !ok {
		return unacceptableType(v)
	}
	return ""
}

func checkDeadLetterKey(v any, args protocol.Table) string {
	if _, ok := args.Get(argDLX); !ok && checkString(v, args) == "" {
		return "routing_key_but_no_dlx_defined"
	}
	return checkString(v, args)
}

func checkEnum(atom string, values ...string) func(any, protocol.Table) string {
	valid := oneOf(values...)
	return func(v any, args protocol.Table) string {
		if term := checkString(v, args); term != "" || valid(v) {
			return term
		}
		return atom
	}
}

func checkHeaderName(v any, args protocol.Table) string {
	if term := checkString(v, args); term != "" || isHeaderName(v) {
		return term
	}
	return "invalid_header_name"
}

// checkQueueType accepts the types this broker has, and the values for the default: "" and "undefined" (DEC-11).
func checkQueueType(v any, args protocol.Table) string {
	if term := checkString(v, args); term != "" {
		return term
	}
	switch v {
	case "classic", "quorum", "", "undefined":
		return ""
	}
	return erlang.String("unsupported queue type '" + v.(string) + "'")
}
