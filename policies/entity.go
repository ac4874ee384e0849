package policies

import (
	"strings"

	"candlemark/protocol"
)

// argDeathQueueOf marks a queue made by dead-letter-queue, with the name of the queue it is for.
const argDeathQueueOf = "x-dead-letter-queue-of"

// DeadLetterQueueSuffix makes the name of a dead-letter queue from its queue's name.
const DeadLetterQueueSuffix = ".dlq"

// EntitySettings are the settings of a queue that Service Bus has and RabbitMQ does not. The zero value corresponds to
// RabbitMQ's queues.
type EntitySettings struct {
	// StampExpiry: deliveries have headers with the times of enqueueing and expiry.
	StampExpiry bool
	// ExpiresAtHeader names a header that sets a message's deadline, or "" if there is none.
	ExpiresAtHeader string
	// DropExpired: dead-letter-expired is false.
	DropExpired bool
	// DeadLetterFailedRules: messages are dead-lettered if a rule that leads to the queue cannot be applied (SBR-7).
	DeadLetterFailedRules bool
	// DeadLetterQueue: the broker creates a queue for the dead letters, and the route, and keeps dead letters until
	// both exist.
	DeadLetterQueue bool
	// ForwardTo is the exchange that messages are forwarded to, if HasForward; "" is the default exchange.
	ForwardTo  string
	HasForward bool
	// RenewedBy lists additional uses that renew the lease (LEASE-4).
	RenewedBy Renewals
	// DeadLetterLock, of a dead-letter queue, is the timeout of the queue that it is for, in ms; 0 for none (LOCK-11).
	DeadLetterLock int64
	// DuplicateWindow is the time in ms for which a message-id is not accepted again; 0 for none (DUP-1).
	DuplicateWindow int64
}

func entitySettings(args protocol.Table, e Effective) EntitySettings {
	s := EntitySettings{
		StampExpiry:     flagOf(args, e, keyStampExpiry),
		DeadLetterQueue: flagOf(args, e, keyDeathQueue),
		DuplicateWindow: max(lowestOf(args, e, keyDuplicates), 0),

		DeadLetterFailedRules: flagOf(args, e, keyDeathOfFailed),
	}
	s.ExpiresAtHeader, _ = textOf(args, e, keyExpiresAt)
	s.ForwardTo, s.HasForward = textOf(args, e, keyForwardTo)
	list, _ := textOf(args, e, keyRenewedBy)
	s.RenewedBy, _ = parseRenewals(list)
	if v, given := args.Get("x-" + keyDeathOfExpired); given {
		s.DropExpired = v == false
	} else if v, given := e.Flag(keyDeathOfExpired); given {
		s.DropExpired = !v
	}
	return s
}

// Renewals are uses of a queue that renew its lease if expires-renewed-by names
// them.
type Renewals uint8

// The groups of admin commands: publish, peek, update (purging; cancelling and rescheduling scheduled messages),
// scheduled (as long as scheduled messages are pending).
const (
	RenewedByPublish Renewals = 1 << iota
	RenewedByPeek
	RenewedByUpdate
	RenewedByScheduled
)

var renewals = map[string]Renewals{
	"publish": RenewedByPublish, "peek": RenewedByPeek, "update": RenewedByUpdate, "scheduled": RenewedByScheduled,
}

// Has reports whether r includes a use.
func (r Renewals) Has(use Renewals) bool { return r&use != 0 }

// parseRenewals reads a list with commas, and perhaps blanks, between its names;
// the empty text is an empty list.
func parseRenewals(list string) (r Renewals, ok bool) {
	if strings.TrimSpace(list) == "" {
		return 0, true
	}
	for name := range strings.SplitSeq(list, ",") {
		use, known := renewals[strings.TrimSpace(name)]
		if !known {
			return 0, false
		}
		r |= use
	}
	return r, true
}

func isRenewals(v any) bool {
	list, ok := v.(string)
	if ok {
		_, ok = parseRenewals(list)
	}
	return ok
}

func checkRenewals(v any, args protocol.Table) string {
	if term := checkString(v, args); term != "" || isRenewals(v) {
		return term
	}
	return "invalid_expires_renewed_by"
}

// DeadLetterQueueOf returns the name of the dead-letter queue of a queue, "" if the queue cannot have one: because the
// queue is itself named as one, or the name would be too long.
func DeadLetterQueueOf(queue string) string {
	if strings.HasSuffix(queue, DeadLetterQueueSuffix) || len(queue)+len(DeadLetterQueueSuffix) > 255 {
		return ""
	}
	return queue + DeadLetterQueueSuffix
}

// QueueLeadsTo returns the exchanges that a queue with these arguments sends messages on to, and whether it asks for a
// dead-letter queue. Arguments of the wrong type are ignored here; ValidateQueueArguments refuses them.
func QueueLeadsTo(args protocol.Table) (exchanges []string, deadLetterQueue bool) {
	for _, key := range []string{argDLX, "x-" + keyForwardTo} {
		if to, isText := stringArgument(args, key); isText {
			exchanges = append(exchanges, to)
		}
	}
	v, _ := args.Get("x-" + keyDeathQueue)
	return exchanges, v == true
}

// ExchangeLeadsTo returns the alternate exchange of an exchange with these arguments, if any.
func ExchangeLeadsTo(args protocol.Table) (exchange string, leads bool) {
	return stringArgument(args, keyAlternateExchange)
}

// DeadLetterQueueArguments returns the arguments of the dead-letter queue of a queue: always a classic one, which has
// no delivery limit.
func DeadLetterQueueArguments(queue string) protocol.Table {
	return protocol.Table{{Key: argDeathQueueOf, Value: queue}, {Key: argQueueType, Value: "classic"}}
}

// DeadLettersFrom returns the queue for whose dead letters the broker has made a queue with these arguments, "" for a
// queue that clients have made.
func DeadLettersFrom(args protocol.Table) string {
	queue, _ := stringArgument(args, argDeathQueueOf)
	return queue
}

// IsDeadLetterQueue reports whether a queue of that name and arguments is the dead-letter queue of another queue.
func IsDeadLetterQueue(name string, args protocol.Table) bool {
	of := DeadLettersFrom(args)
	return of != "" && DeadLetterQueueOf(of) == name
}

// Routed returns the settings with the route to the queue's dead-letter queue. A dead-letter exchange that is also set
// takes precedence; then there is no such queue, and DeadLetterQueue is false.
func (q QueueSettings) Routed(queue string) QueueSettings {
	to := DeadLetterQueueOf(queue)
	if q.DeadLetterQueue = q.DeadLetterQueue && !q.HasDLX && to != ""; q.DeadLetterQueue {
		q.HasDLX, q.DeadLetterExchange = true, ""
		q.HasDLK, q.DeadLetterRoutingKey = true, to
	}
	return q
}
