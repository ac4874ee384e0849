package policies

import (
	"strings"

	"candlemark/protocol"
)

// WithQueueType returns args with x-queue-type, which RabbitMQ 4 adds to the arguments of every queue (DEC-12):
// vhostDefault ("" for the broker's, which is classic), or classic when that type does not support these properties.
// Given arguments are unchanged. Call it on every queue.declare, before ValidateQueueArguments and before Equivalent.
func WithQueueType(args protocol.Table, durable, exclusive, autoDelete bool, vhostDefault string) protocol.Table {
	if _, given := args.Get(argQueueType); given {
		return args
	}
	name := vhostDefault
	if name != "quorum" || !durable || exclusive || autoDelete {
		name = "classic"
	}
	return args.Set(argQueueType, name)
}

// QueueDeclaration holds the properties that a queue was, or is to be, declared with. Arguments
// have their x-queue-type (see WithQueueType).
type QueueDeclaration struct {
	Durable, AutoDelete, Exclusive bool
	Arguments                      protocol.Table
}

// ValidateQueueProperties checks the properties of a new queue against its type: a quorum queue is durable and not
// exclusive. A classic queue may have any properties (DEC-13). The error is 406 with RabbitMQ's text. An exclusive or
// server-named queue cannot have a dead-letter queue, which would outlive it.
func ValidateQueueProperties(name, vhost string, d QueueDeclaration) *protocol.ChannelError {
	if own := d.Exclusive || strings.HasPrefix(name, "amq."); own && flagArgument(d.Arguments, "x-"+keyDeathQueue) {
		return invalidArgument("x-"+keyDeathQueue, name, vhost, "exclusive_or_server_named")
	}
	if KindOf(d.Arguments) != KindQuorumQueue {
		return nil
	}
	property := ""
	switch {
	case d.AutoDelete:
		property = "auto-delete"
	case d.Exclusive:
		property = "exclusive-owner"
	case !d.Durable:
		property = "non-durable"
	default:
		return nil
	}
	return preconditionFailed("invalid property '%s' for %s", property, queueText(name, vhost))
}

// ValidateServerNamed refuses an empty queue name for queue types that need a name from the client. The error is 406
// with RabbitMQ's text.
func ValidateServerNamed(args protocol.Table) *protocol.ChannelError {
	if kind := KindOf(args); kind != KindClassicQueue {
		return preconditionFailed("Cannot declare a server-named queue for type %s", kind.module())
	}
	return nil
}
