package topology

import (
	"strings"

	"candlemark/internal/routing/filter"
)

// The names of the delayed-message exchange.
const (
	// DelayedType is the type of exchange that holds messages back (DLY-1).
	DelayedType = "x-delayed-message"
	// DelayedArgument names the exchange type that routes them when they are due.
	DelayedArgument = "x-delayed-type"
	// HolderType is the type of the queue in which such an exchange holds messages. No directory contains such a queue.
	HolderType = "delayed"
)

// holderPrefix followed by the name of a delayed exchange is the name of its holder. Clients cannot use such names
// (DEC-8).
const holderPrefix = "amq.delayed."

// HolderName returns the name of the holder of a delayed exchange.
func HolderName(exchange string) string { return holderPrefix + exchange }

// HeldFor returns the name of the delayed exchange of a holder.
func HeldFor(holder string) string { return strings.TrimPrefix(holder, holderPrefix) }

// Delayed reports whether the exchange holds back messages that ask for a delay.
func (x *Exchange) Delayed() bool { return x.Type == DelayedType }

// IsTopic reports whether the exchange is a topic of Azure Service Bus. It holds back messages scheduled by an
// operation (DLY-15).
func (x *Exchange) IsTopic() bool { return x.Type == filter.ExchangeType }

// HasHolder reports whether the exchange has a queue for held messages.
func (x *Exchange) HasHolder() bool { return x.Delayed() || x.IsTopic() }

// RoutingType returns the type by which the exchange routes: for a delayed exchange the type in its argument, "" if
// there is none.
func (x *Exchange) RoutingType() string {
	if !x.Delayed() {
		return x.Type
	}
	kind, _ := x.Arguments.Get(DelayedArgument)
	name, _ := kind.(string)
	return name
}

// Holder returns the queue in which a delayed exchange or a topic holds messages; nil for any other exchange. It is
// in no directory: it cannot be reached by name.
func (x *Exchange) Holder() *Queue { return x.holder.Load() }

// SetHolder makes q the holder. Only the vhost actor calls it, before it publishes the exchange; and later with VHost.Bump after it.
func (x *Exchange) SetHolder(q *Queue) { x.holder.Store(q) }

// Holds reports whether the queue is the holder of an exchange.
func (q *Queue) Holds() bool { return q.Type == HolderType }
