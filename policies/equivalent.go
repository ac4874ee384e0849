package policies

import (
	"strconv"

	"candlemark/internal/text/erlang"
	"candlemark/protocol"
)

// The arguments compared when a queue is declared again, by its type and in this order (DEC-2). Others may differ.
var (
	comparedClassic = compared(func(a *argument) uint8 { return a.classic })
	comparedQuorum  = compared(func(a *argument) uint8 { return a.quorum })
)

// Equivalent compares a queue.declare with the queue that exists and returns nil when it asks for the same (DEC-1 to
// DEC-5). A different exclusive flag is 405 RESOURCE_LOCKED; after that the first difference in durable, auto_delete
// and the known arguments is 406 PRECONDITION_FAILED. The values received are not checked for validity. The caller must
// first check whether another connection owns the queue; then the answer is ResourceLocked too.
func Equivalent(name, vhost string, current, received QueueDeclaration) *protocol.ChannelError {
	if current.Exclusive != received.Exclusive {
		return ResourceLocked(name, vhost)
	}
	c := comparison{resource: func() string { return queueText(name, vhost) }}
	// Exclusive queues are never durable, even if declared so (DEC-5).
	c.flags("durable", current.Durable && !current.Exclusive, received.Durable && !received.Exclusive)
	c.flags("auto_delete", current.AutoDelete, received.AutoDelete)
	names := comparedClassic
	if KindOf(current.Arguments) == KindQuorumQueue {
		names = comparedQuorum
	}
	c.arguments(names, current.Arguments, received.Arguments)
	return c.err
}

// ResourceLocked returns the answer to every use of another connection's exclusive queue, and to a declare whose
// exclusive flag differs (DEC-5).
func ResourceLocked(name, vhost string) *protocol.ChannelError {
	return protocol.ChannelErrorf(protocol.ResourceLocked,
		"cannot obtain exclusive access to locked %s. It could be originally declared on another connection "+
			"or the exclusive property value does not match that of the original declaration.", queueText(name, vhost))
}

// ExchangeDeclaration holds the properties that an exchange was, or is to be, declared with.
type ExchangeDeclaration struct {
	Type                          string
	Durable, AutoDelete, Internal bool
	Arguments                     protocol.Table
}

// EquivalentExchange compares an exchange.declare with the exchange that exists: type, durable, auto_delete, internal,
// alternate-exchange, and how it releases held messages. Nil when they are the same, else 406 for the first difference
// (DEC-4).
func EquivalentExchange(name, vhost string, current, received ExchangeDeclaration) *protocol.ChannelError {
	c := comparison{resource: func() string { return exchangeText(name, vhost) }}
	if current.Type != received.Type {
		c.differ("type", "'"+received.Type+"'", "'"+current.Type+"'")
	}
	c.flags("durable", current.Durable, received.Durable)
	c.flags("auto_delete", current.AutoDelete, received.AutoDelete)
	c.flags("internal", current.Internal, received.Internal)
	c.arguments([]string{keyAlternateExchange, "x-" + keyOverdue, "x-" + keyReleaseRate}, current.Arguments, received.Arguments)
	return c.err
}

// comparison keeps the first difference.
type comparison struct {
	resource func() string // the object's name for the error
	err      *protocol.ChannelError
}

func (c *comparison) differ(key, received, current string) {
	if c.err == nil {
		c.err = preconditionFailed("inequivalent arg '%s' for %s: received %s but current is %s",
			key, c.resource(), received, current)
	}
}

func (c *comparison) flags(key string, current, received bool) {
	if current != received {
		c.differ(key, "'"+strconv.FormatBool(received)+"'", "'"+strconv.FormatBool(current)+"'")
	}
}

// arguments compares the listed ones. Integers of all types are equal by value
// (DEC-3).
func (c *comparison) arguments(keys []string, current, received protocol.Table) {
	if current.Equal(received) {
		return
	}
	for _, key := range keys {
		was, isSet := current.Get(key)
		now, isGiven := received.Get(key)
		switch {
		case isSet && isGiven:
			if erlang.Field(was) != erlang.Field(now) {
				c.differ(key, quoted(now), quoted(was))
			}
		case isSet && !(key == argQueueType && was == "classic"):
			c.differ(key, "none", valueText(was))
		case isGiven && !(key == argQueueType && now == "classic"):
			c.differ(key, valueText(now), "none")
		}
	}
}

// quoted returns strings unchanged and everything else as a term; a void counts as absent.
func quoted(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return "'" + v + "'"
	case []byte:
		return "'" + string(v) + "'"
	default:
		return "'" + erlang.Field(v) + "'"
	}
}

func valueText(v any) string {
	return "the value " + quoted(v) + " of type '" + protocol.TypeName(v) + "'"
}
