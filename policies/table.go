package policies

import (
	"slices"
	"strings"

	"candlemark/protocol"
)

// A key is one setting of queues or exchanges. A policy sets it by its name; queue.declare has it as an argument, x- and
// the name.
type key struct {
	name  string
	value string // what its values are, for lists: a unit, names, or "true or false"
	means string // for lists; "" for keys without effect
	idle  string // why the key has no effect here, "" if it has one
	own   bool   // RabbitMQ does not know it
	// removes: a policy's value can remove messages or queues.
	removes bool

	argument argument
	policy   policyKey
	wins     choice // between an argument and a policy, of queues
}

// An argument of queue.declare; the zero value for keys that are none.
type argument struct {
	on    kinds // the types of queues that know it
	check func(v any, args protocol.Table) (term string)
	// classic and quorum are the places among the arguments compared when a queue of that type is declared again, 0 for those
	// that may differ (DEC-2).
	classic, quorum uint8
}

// A policyKey is a key of policies (POL-5); the zero value for keys that policies cannot set.
type policyKey struct {
	valid       func(v any) bool
	text        string // end of the error text, after the invalid value
	unsupported kinds  // a policy with this key is skipped there (POL-4)
	operator    merge  // nil: operator policies may not set it (POL-6)
}

// A merge decides between the values of a user policy and an operator policy for the same key (POL-7).
type merge func(user, operator any) any

// choice defines whether an argument or a policy counts.
type choice uint8

const (
	nobody choice = iota // the key has no effect on queues
	lowestWins
	argumentWins
	policyWins
)

// The values of keys, for lists.
const (
	inMS       = "ms"
	inBytes    = "bytes"
	inMessages = "messages"
	aNumber    = "number"
	aName      = "name"
	onOrOff    = "true or false"
)

// The reasons why keys, and other things that RabbitMQ has, have no effect.
const (
	OneNode      = "there is one node"
	NoStreams    = "there are no streams"
	NoFederation = "federation is not supported here"
	pagesItself  = "every queue pages its messages to the disk by itself"
)

// both are the types of queues that this broker has.
const both = onClassic | onQuorum

// last is the place of Candlemark's own arguments, which are compared after RabbitMQ's, in the order of the table.
const last = 100

// allKeys has every key, in the order in which the values of arguments are checked (TTL-4). Parsing, validation, comparison,
// precedence, explanations, definition files, the web pages and the lists in docs/queues.md and docs/policies.md take keys
// from here; SettingsFor reads each that has an effect.
var allKeys = []key{
	{
		name: keyExpires, removes: true, value: inMS, means: "time without use after which the queue is deleted", wins: lowestWins,
		argument: argument{both, checkExpires, 1, 4}, policy: policyKey{atLeast(1), "is not a valid queue expiry", onStream, lowest},
	},
	{
		name: keyMessageTTL, removes: true, value: inMS, means: "time after which messages expire", wins: lowestWins,
		argument: argument{both, checkMessageTTL, 2, 14}, policy: policyKey{atLeast(0), "is not a valid message TTL", onStream, lowest},
	},
	{
		name: keyDeadLetterExchange, value: aName, means: "exchange for dead letters", wins: argumentWins,
		argument: argument{both, checkString, 3, 1}, policy: policyKey{isString, "is not a valid dead letter exchange name", onStream, nil},
	},
	{
		name: keyDeadLetterKey, value: aName, means: "routing key of dead letters", wins: argumentWins,
		argument: argument{both, checkDeadLetterKey, 4, 2}, policy: policyKey{isString, "is not a valid dead letter routing key", onStream, nil},
	},
	{
		name: keyDeadLetterStrategy, value: oneFrom(strategies), means: "whether dead letters are kept until they have arrived", wins: argumentWins,
		argument: argument{onQuorum, checkEnum("invalid_dlx_strategy", strategies...), 0, 3},
		policy:   policyKey{oneOf(strategies...), "is not a valid dead letter strategy", onClassic | onStream, nil},
	},
	{
		name: keyMaxLength, removes: true, value: inMessages, means: "maximum number of ready messages", wins: lowestWins,
		argument: argument{both, checkNotNegative, 5, 5}, policy: policyKey{atLeast(0), "is not a valid maximum length", onStream, lowest},
	},
	{
		name: keyMaxLengthBytes, removes: true, value: inBytes, means: "maximum size of the bodies of ready messages", wins: lowestWins,
		argument: argument{onQueues, checkNotNegative, 6, 6}, policy: policyKey{atLeast(0), "is not a valid maximum length in bytes", 0, lowest},
	},
	{
		name: "max-in-memory-length", value: inMessages, idle: pagesItself, argument: argument{onQuorum, checkNotNegative, 0, 7},
		policy: policyKey{atLeast(0), "is not a valid maximum memory in bytes", onClassic | onStream, lowest},
	},
	{
		name: "max-in-memory-bytes", value: inBytes, idle: pagesItself, argument: argument{onQuorum, checkNotNegative, 0, 8},
		policy: policyKey{atLeast(0), "is not a valid maximum memory in bytes", onClassic | onStream, lowest},
	},
	{
		name: keyMaxPriority, value: "1 to 255", means: "highest priority of messages", wins: argumentWins,
		argument: argument{onClassic, checkMaxPriority, 7, 0},
	},
	{
		name: keyOverflow, value: oneFrom(overflows), means: "behaviour above the maximum length", wins: argumentWins,
		argument: argument{both, checkEnum("invalid_overflow", overflows...), 8, 9},
		policy:   policyKey{oneOf(overflows...), "is not a valid overflow value", onStream, operatorWins},
	},
	{
		name: "queue-mode", value: "default, lazy", idle: pagesItself, argument: argument{onClassic, checkNothing, 9, 0},
		policy: policyKey{oneOf("default", "lazy"), "is not a valid queue-mode value", onQuorum | onStream, nil},
	},
	{
		name: "queue-version", value: "1, 2", idle: "there is only one version of classic queues", argument: argument{onClassic, checkQueueVersion, 10, 0},
		policy: policyKey{between(1, 2), "is not a valid queue-version value", 0, operatorWins},
	},
	{
		name: keySingleActive, value: onOrOff, means: "only one consumer at a time gets messages", wins: argumentWins,
		argument: argument{both, checkBool, 11, 10},
	},
	{
		name: keyConsumerTimeout, value: inMS, means: "time within which a delivery must be settled", wins: argumentWins,
		argument: argument{both, checkNotNegative, 15, 16}, policy: policyKey{atLeast(0), "is not a valid consumer timeout", 0, nil},
	},
	{name: "queue-type", value: "classic, quorum", means: "type of the queue", argument: argument{onQueues, checkQueueType, 12, 11}},
	{name: "quorum-initial-group-size", value: aNumber, idle: OneNode, argument: argument{onQuorum, checkPositive, 0, 12}},
	{
		name: keyDeliveryLimit, removes: true, value: aNumber, means: "failed deliveries after which a message is dead-lettered, -1 for no limit", wins: lowestWins,
		argument: argument{onQuorum, checkNothing, 0, 13}, policy: policyKey{isInt, "is not a valid delivery limit", onClassic | onStream, lowestLimit},
	},
	{
		name: keyRetryType, value: oneFrom(retries), means: "which returned messages are delivered again later", wins: policyWins,
		argument: argument{both, checkEnum("invalid_delayed_retry_type", retries...), 0, 0},
		policy:   policyKey{oneOf(retries...), "is not a valid delayed retry type. Must be one of: all, failed, returned, disabled", 0, operatorWins},
	},
	{
		name: keyRetryMin, value: inMS, means: "delay before the first retry", wins: lowestWins, argument: argument{both, checkPositive, 0, 0},
		policy: policyKey{atLeast(1), "is not a valid delayed retry minimum delay. Must be a positive integer", 0, highest},
	},
	{
		name: keyRetryMax, value: inMS, means: "longest delay before a retry", wins: lowestWins, argument: argument{both, checkPositive, 0, 0},
		policy: policyKey{atLeast(1), "is not a valid delayed retry maximum delay. Must be a positive integer", 0, lowest},
	},
	{
		name: "max-age", value: "age", idle: NoStreams, argument: argument{onStream, checkNothing, 0, 0},
		policy: policyKey{isAge, "is not a valid max age", both, nil},
	},
	{
		name: "stream-max-segment-size-bytes", value: inBytes, idle: NoStreams, argument: argument{onStream, checkNothing, 0, 0},
		policy: policyKey{between(0, 3_000_000_000), "is not a valid segment size", both, nil},
	},
	{
		name: "stream-filter-size-bytes", value: inBytes, idle: NoStreams, argument: argument{onStream, checkNothing, 0, 0},
		policy: policyKey{between(16, 255), "is not a valid filter size. Valid range is 16-255", 0, nil},
	},
	{
		name: "initial-cluster-size", value: aNumber, idle: OneNode, argument: argument{onStream, checkNothing, 0, 0},
		policy: policyKey{atLeast(0), "is not a valid cluster size", both, nil},
	},
	{name: "queue-master-locator", value: aName, idle: OneNode, argument: argument{onClassic, checkNothing, 13, 0}},
	{
		name: "queue-leader-locator", value: oneFrom(locators), idle: OneNode,
		argument: argument{onQueues, checkEnum("invalid_queue_locator_arg", append(slices.Clone(locators), "min-masters")...), 14, 15},
		policy:   policyKey{oneOf(locators...), "is not a valid queue leader locator value", 0, nil},
	},
	{
		name: keyAlternateExchange, value: aName, means: "exchange for messages that an exchange cannot route",
		policy: policyKey{isString, "is not a valid alternate exchange name", 0, nil},
	},
	{name: "target-group-size", value: aNumber, idle: OneNode, policy: policyKey{atLeast(1), "is not a valid qq target count value", onClassic | onStream, highest}},
	{name: "federation-upstream", value: aName, idle: NoFederation, policy: policyKey{isString, "is not a valid federation upstream name", 0, nil}},
	{name: "federation-upstream-set", value: aName, idle: NoFederation, policy: policyKey{isString, "is not a valid federation upstream set name", 0, nil}},

	own(keyExpiryOrder, oneFrom(orders), "whether messages expire anywhere in the queue or only at its head", argumentWins,
		checkEnum("invalid_expiry_order", orders...), oneOf(orders...), "is not a valid expiry order"),
	ownFlag(keyRetroactiveTTL, "a changed message TTL also applies to queued messages"),
	ownFlag(keyExpiresIfEmpty, "the queue does not expire while it holds messages"),
	ownFlag(keyExpiresToDLX, "messages of an expired queue are dead-lettered"),
	ownFlag(keyDeathCount, "dead letters have the header x-death-count"),
	ownFlag(keyDeathContinue, "x-death headers of published messages are continued"),
	ownFlag(keyDelayed, "messages with a delay or a due date are scheduled"),
	own(keyDeliverAt, aName, "header with the due date of messages", argumentWins, checkHeaderName, isHeaderName, "is not a valid deliver-at-header name"),
	own(keyOverdue, oneFrom(overdue), "what happens to scheduled messages that fell due while the broker was down", argumentWins,
		checkEnum("invalid_overdue_messages", overdue...), oneOf(overdue...), "is not a valid overdue-messages value"),
	own(keyReleaseRate, "messages per second", "maximum rate of release of scheduled messages", lowestWins, checkPositive, atLeast(1), "is not a valid release rate"),
	ownFlag(keyStampExpiry, "deliveries have the header x-expires-at"),
	own(keyExpiresAt, aName, "header with the expiration date of messages", argumentWins, checkHeaderName, isHeaderName, "is not a valid expires-at-header name"),
	ownFlag(keyDeathOfExpired, "expired messages are dead-lettered"),
	ownFlag(keyDeathOfFailed, "messages for which a rule fails are dead-lettered"),
	ownFlag(keyDeathQueue, "the broker makes a queue for the dead letters of this queue"),
	own(keyForwardTo, aName, "exchange that messages are forwarded to", argumentWins, checkString, isString, "is not a valid exchange name to forward to"),
	own(keyRenewedBy, "publish, peek, update, scheduled", "further uses that postpone the end of an unused queue", argumentWins,
		checkRenewals, isRenewals, "is not a valid expires-renewed-by value"),
	own(keyDuplicates, inMS, "time during which a message-id is not accepted again", lowestWins, checkMessageTTL, atLeast(0), "is not a valid duplicate detection window"),
	own(keyRetryFactor, aNumber, "factor from one delay before a retry to the next", lowestWins, checkRetryFactor, atLeast(1), "is not a valid delayed retry multiplier"),
	own(keyRetryLadder, "delays such as 1s,10s,1m", "delays before the first, second and further retries", argumentWins, checkRetryLadder, isLadder,
		"is not a valid delayed-retry-ladder value: 1 to 32 delays such as 1s,10s,1m"),
	own(keyRetryJitter, "percent", "by how much delays before retries are extended at most", lowestWins, checkRetryJitter, between(0, 100), "is not a valid delayed retry jitter"),
	{
		name: keyPausedUntil, value: "date or forever", means: "deliveries are stopped until then", own: true, wins: policyWins,
		policy: policyKey{isEndOfPause, "is not a valid paused-until value: a date such as 2027-01-01T08:00:00Z, ms since 1970, or forever", onStream, nil},
	},
	own(keyDeliverAfter, oneFrom(afters), "in a cluster, whether a classic queue delivers messages when a majority has them", argumentWins,
		checkEnum("invalid_deliver_after", afters...), oneOf(afters...), "is not a valid deliver-after value"),
	own(keyRequests, oneFrom(requests), "whether requests that expire, or end otherwise without a dead-letter exchange, are answered", argumentWins,
		checkEnum("invalid_expired_requests", requests...), oneOf(requests...), "is not a valid expired-requests value"),
	{name: keySessions, value: onOrOff, means: "messages belong to sessions", argument: argument{onQuorum, checkBool, 0, last}},
}

// own returns a key that RabbitMQ does not know.
func own(
	name, value, means string, wins choice, check func(any, protocol.Table) string, valid func(any) bool, text string,
) key {
	return key{
		name: name, value: value, means: means, own: true, wins: wins,
		argument: argument{both, check, last, last}, policy: policyKey{valid, text, onStream, nil},
	}
}

func ownFlag(name, means string) key {
	return own(name, onOrOff, means, argumentWins, checkBool, isBool, "is not a valid "+name+" value")
}

func oneFrom(values []string) string { return strings.Join(values, ", ") }

// byName has the keys by name.
var byName = func() map[string]*key {
	all := make(map[string]*key, len(allKeys))
	for i := range allKeys {
		all[allKeys[i].name] = &allKeys[i]
	}
	return all
}()

// policyKeyOf returns the key of policies of that name, false if there is none.
func policyKeyOf(name string) (*policyKey, bool) {
	k := byName[name]
	if k == nil || k.policy.valid == nil {
		return &policyKey{}, false
	}
	return &k.policy, true
}

// compared returns the arguments compared when a queue is declared again, given the place of each (DEC-2).
func compared(place func(*argument) uint8) (names []string) {
	sorted := slices.Clone(allKeys)
	slices.SortStableFunc(sorted, func(a, b key) int { return int(place(&a.argument)) - int(place(&b.argument)) })
	for i := range sorted {
		if place(&sorted[i].argument) > 0 {
			names = append(names, "x-"+sorted[i].name)
		}
	}
	return names
}

// Key describes a key for lists.
type Key struct {
	Name  string // without x-
	Value string // what its values are: ms, bytes, a list of words, …
	Means string // "" if it has no effect
	Idle  string // why it has no effect, "" if it has one
	Own   bool   // RabbitMQ does not know it
	// Argument: queue.declare knows it as x- and the name. Policy: policies can set it. Operator: operator policies, too.
	Argument, Policy, Operator bool
}

// Keys returns all keys that arguments of queues and policies can set, by name.
func Keys() []Key {
	list := make([]Key, len(allKeys))
	for i := range allKeys {
		k := &allKeys[i]
		list[i] = Key{
			Name: k.name, Value: k.value, Means: k.means, Idle: k.idle, Own: k.own,
			Argument: k.argument.check != nil, Policy: k.policy.valid != nil, Operator: k.policy.operator != nil,
		}
	}
	slices.SortFunc(list, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Idle returns the reason why a key has no effect, "" for any other name.
func Idle(name string) string {
	if k := byName[name]; k != nil {
		return k.idle
	}
	return ""
}

// Destructive reports whether a value of a policy's key can remove messages or queues.
func Destructive(name string) bool {
	k := byName[name]
	return k != nil && k.removes
}
