package policies

import "candlemark/protocol"

const argPriority = "x-priority"

// consumerArguments are in the order in which values are checked; arguments that no queue type here supports are
// refused.
var consumerArguments = []checked{
	{argPriority, onQueues, func(v any, _ protocol.Table) string { return checkRange(v, -1<<63, 1<<63-1, "") }},
	{"x-" + keyConsumerTimeout, onClassic | onQuorum, checkNotNegative},
	{"x-stream-offset", onStream, checkNothing},
}

// ConsumerSettings is the result of the arguments of one basic.consume.
type ConsumerSettings struct {
	// Priority is x-priority, 0 without one: consumers with a higher one get
	// messages first.
	Priority int64
	// Timeout is x-consumer-timeout in ms, at most 2^53; -1 without one, or with
	// one of 0.
	Timeout int64
}

// ConsumerSettingsFor reads the arguments of a basic.consume. Arguments of a wrong type count as absent.
func ConsumerSettingsFor(args protocol.Table) ConsumerSettings {
	priority, _ := intArgument(args, argPriority)
	return ConsumerSettings{priority, timeoutOf(intArgument(args, "x-"+keyConsumerTimeout))}
}

// timeoutOf converts a timeout in ms as given, where 0 means none.
func timeoutOf(ms int64, given bool) int64 {
	if !given || ms <= 0 {
		return unset
	}
	return min(ms, forever)
}

// Timeout returns the consumer timeout that applies, in ms, -1 for none: the more specific one if it is set, else the general one
// (ADR 10).
func Timeout(specific, general int64) int64 {
	if specific < 0 {
		return general
	}
	return specific
}

// ValidateConsumerArguments checks the arguments of a basic.consume from a queue
// of the given kind. The error is 406 PRECONDITION_FAILED with RabbitMQ's text
// for the first thing wrong: a value (DEC-11), then an argument of another queue
// type (DEC-7). Unknown arguments may have any value.
func ValidateConsumerArguments(name, vhost string, kind Kind, args protocol.Table) *protocol.ChannelError {
	if len(args) == 0 {
		return nil
	}
	return validate(consumerArguments, name, vhost, kind, args)
}
