package policies

import (
	"strings"

	"candlemark/policies/retry"
	"candlemark/protocol"
)

// unset is an integer setting that is not set.
const unset = -1

// forever is the highest value that settings hold, in ms or messages or bytes:
// policies have no upper bound (TTL-8), and this one can still be added to a
// wall clock in ms. It is 285,000 years.
const forever = 1 << 53

// defaultDeliveryLimit is the default of quorum queues since RabbitMQ 4.0 (DL-9).
const defaultDeliveryLimit = 20

// QueueSettings is everything that arguments and policies decide about one
// queue. Of numbers -1 means none; they are at most 2^53.
type QueueSettings struct {
	// MessageTTL is the queue's TTL in ms, at least 0 (TTL-9).
	MessageTTL int64
	// Expires is the length of the queue's lease in ms, at least 1 (LEASE-2).
	Expires int64
	// DeadLetterExchange is the exchange for dead letters if HasDLX; "" is the default exchange (DL-1). Exchange and
	// key are resolved separately (DL-8).
	DeadLetterExchange string
	HasDLX             bool
	// DeadLetterRoutingKey replaces the keys of dead letters if HasDLK (DL-15).
	DeadLetterRoutingKey string
	HasDLK               bool
	// DeadLetterAtLeastOnce: a quorum queue with this strategy, a dead letter
	// exchange and overflow reject-publish (DL-30).
	DeadLetterAtLeastOnce bool
	// MaxLength and MaxLengthBytes limit the ready messages (DL-12).
	MaxLength, MaxLengthBytes int64
	// Overflow is drop-head, reject-publish or reject-publish-dlx (DL-6, DL-10).
	Overflow string
	// DeliveryLimit is the number of redeliveries of a message before it is dead-lettered, -1 for no limit; in classic queues
	// there is one only with Retry (DL-9).
	DeliveryLimit int64
	// ConsumerTimeout is how long a delivery may stay unacknowledged, in ms, at least 1. An argument or a policy of 0
	// is ignored.
	ConsumerTimeout int64
	// Retry delays messages that come back (RETRY-1).
	Retry retry.Settings
	// MaxPriority is the highest distinct priority of the queue, 0 to 255; 0 for a queue without priorities (DEC-11).
	MaxPriority uint8
	// NormalPriority is the highest priority that counts as 0, 0 to 4; it is 0 or less than MaxPriority (DEC-11).
	NormalPriority uint8
	// SingleActiveConsumer: one consumer at a time gets the messages (DEC-11).
	SingleActiveConsumer bool
	// StrictExpiry: expiry-order is strict, only the head expires, as in
	// RabbitMQ (TTL-18, TTL-30).
	StrictExpiry bool
	// RetroactiveTTL: a change of MessageTTL also counts for messages already
	// queued (TTL-25).
	RetroactiveTTL bool
	// ExpiresIfEmpty: the lease does not end while messages are queued (LEASE-13).
	ExpiresIfEmpty bool
	// ExpiresDeadLettersBacklog: when the lease ends, the messages are
	// dead-lettered instead of discarded (LEASE-13).
	ExpiresDeadLettersBacklog bool
	// DeathCount: dead letters carry x-death-count, the count of their last death,
	// which a headers exchange can match.
	DeathCount bool
	// DeathContinue: an x-death that a client published is continued (DL-23).
	DeathContinue bool
	// DelayedMessages: x-delay and x-deliver-at keep a message scheduled, and
	// DeliverAtHeader, if there is one, names another header with a due time.
	DelayedMessages bool
	DeliverAtHeader string
	// OverdueMessages defines what happens to scheduled messages that came due while the broker was down:
	// OverdueDeliver, OverdueDeadLetter or OverdueDrop.
	OverdueMessages string
	// PausedUntil is when a policy lets deliveries go on, in wall ms; Forever for no end, 0 for no pause (PAUSE-3).
	PausedUntil int64
	// ReleaseRate is the maximum number of scheduled messages released per second.
	ReleaseRate int64
	// DeliverAfterCommit: what a classic queue of a cluster tells waits for its records, as it always does for quorum queues (CLU-16).
	DeliverAfterCommit bool
	// AnswerRequests: requests that would be dropped are answered (ANS-1).
	AnswerRequests bool

	EntitySettings
}

// SettingsFor merges the arguments of a queue with the policies (POL-8): for numbers of messages, bytes and TTLs the lower
// counts (TTL-9, LEASE-2), for everything else the argument, except that on quorum queues the policy decides about overflow (DL-7) and a
// negative delivery limit means unlimited (POL-7). Arguments of a wrong type count as absent.
func SettingsFor(args protocol.Table, e Effective) QueueSettings {
	q := QueueSettings{
		MessageTTL:      lowestOf(args, e, keyMessageTTL),
		Expires:         lowestOf(args, e, keyExpires),
		MaxLength:       lowestOf(args, e, keyMaxLength),
		MaxLengthBytes:  lowestOf(args, e, keyMaxLengthBytes),
		ConsumerTimeout: Timeout(timeoutOf(intArgument(args, "x-"+keyConsumerTimeout)), timeoutOf(e.Int(keyConsumerTimeout))),
		DeliveryLimit:   unset,
		Overflow:        overflowDropHead,
	}
	q.DeadLetterExchange, q.HasDLX = textOf(args, e, keyDeadLetterExchange)
	q.DeadLetterRoutingKey, q.HasDLK = textOf(args, e, keyDeadLetterKey)
	if overflow, ok := textOf(args, e, keyOverflow); ok {
		q.Overflow = overflow
	}
	if n, ok := intArgument(args, argMaxPriority); ok {
		q.MaxPriority = uint8(min(max(n, 0), maxPriority))
	}
	q.SingleActiveConsumer = flagArgument(args, argSingleActive)

	order, _ := textOf(args, e, keyExpiryOrder)
	q.StrictExpiry = order == expiryOrderStrict
	q.RetroactiveTTL = flagOf(args, e, keyRetroactiveTTL)
	q.ExpiresIfEmpty = flagOf(args, e, keyExpiresIfEmpty)
	q.ExpiresDeadLettersBacklog = flagOf(args, e, keyExpiresToDLX)
	q.DeathCount = flagOf(args, e, keyDeathCount)
	q.DeathContinue = flagOf(args, e, keyDeathContinue)
	q.DelayedMessages = flagOf(args, e, keyDelayed)
	q.DeliverAtHeader, _ = textOf(args, e, keyDeliverAt)
	q.setSchedule(args, e)
	v, _ := e.Definition.Get(keyPausedUntil)
	q.PausedUntil, _ = endOfPause(v)
	after, _ := textOf(args, e, keyDeliverAfter)
	q.DeliverAfterCommit = after == deliverAfterCommit
	requests, _ := textOf(args, e, keyRequests)
	q.AnswerRequests = requests == answerRequests
	q.EntitySettings = entitySettings(args, e)
	q.Retry = retrySettings(args, e)
	if KindOf(args) == KindQuorumQueue {
		q.quorum(args, e)
	} else if q.Retry.On() {
		q.DeliveryLimit = deliveryLimit(args, e, unset)
	}
	return q
}

// PriorityOf returns the priority at which a message with that priority property, 0 without one, is queued (DEC-11).
func (q *QueueSettings) PriorityOf(priority uint8) uint8 {
	if priority <= q.NormalPriority {
		return 0
	}
	return min(priority, q.MaxPriority)
}

// Retimes reports whether replacing before by these settings changes deadlines of queued messages, or which of them are
// checked: a TTL that applies to them, or no longer does (TTL-25), or expiry that is no longer strict.
func (q *QueueSettings) Retimes(before *QueueSettings) bool {
	ttl := q.RetroactiveTTL != before.RetroactiveTTL || q.RetroactiveTTL && before.MessageTTL != q.MessageTTL
	return ttl || before.StrictExpiry && !q.StrictExpiry
}

// Drops reports whether q may have lower limits than before, which drop queued messages.
func (q *QueueSettings) Drops(before *QueueSettings) bool {
	lower := q.MaxLength >= 0 && (before.MaxLength < 0 || q.MaxLength < before.MaxLength)
	return q.Overflow == overflowDropHead && (lower || before.Overflow != overflowDropHead && q.MaxLength >= 0)
}

// quorum adjusts the settings that differ on quorum queues.
func (q *QueueSettings) quorum(args protocol.Table, e Effective) {
	if overflow, ok := e.Text(keyOverflow); ok {
		q.Overflow = overflow
	}
	q.MaxPriority, q.NormalPriority = quorumMaxPriority, quorumNormalPriority
	if q.Overflow == overflowRejectDLX {
		q.Overflow = overflowDropHead // not honoured there (DL-6)
	}
	strategy, _ := textOf(args, e, keyDeadLetterStrategy)
	q.DeadLetterAtLeastOnce = strategy == strategyLeastOnce && q.HasDLX && q.Overflow == overflowReject

	q.DeliveryLimit = deliveryLimit(args, e, defaultDeliveryLimit)
}

// deliveryLimit merges the delivery limits of arguments and policies, of which a negative one means unlimited (POL-7).
func deliveryLimit(args protocol.Table, e Effective, limit int64) int64 {
	argument, hasArgument := intArgument(args, "x-"+keyDeliveryLimit)
	policy, hasPolicy := e.Int(keyDeliveryLimit)
	switch {
	case hasArgument && hasPolicy && (argument < 0 || policy < 0):
		limit = max(argument, policy)
	case hasArgument && hasPolicy:
		limit = min(argument, policy)
	case hasArgument:
		limit = argument
	case hasPolicy:
		limit = policy
	}
	return min(max(limit, unset), forever)
}

// setSchedule reads how scheduled messages are released.
func (q *QueueSettings) setSchedule(args protocol.Table, e Effective) {
	q.OverdueMessages = OverdueDeliver
	if overdue, ok := textOf(args, e, keyOverdue); ok {
		q.OverdueMessages = overdue
	}
	q.ReleaseRate = lowestOf(args, e, keyReleaseRate)
}

// HolderSettingsFor returns the settings of the holder of a delayed exchange with these arguments and policies: they
// only decide how it releases messages. An exchange dead-letters nothing, so dead-letter means deliver there.
func HolderSettingsFor(args protocol.Table, e Effective) QueueSettings {
	q := SettingsFor(nil, Effective{})
	if q.setSchedule(args, e); q.OverdueMessages == OverdueDeadLetter {
		q.OverdueMessages = OverdueDeliver
	}
	return q
}

// ExchangeSettings is the result of arguments and policies for an exchange.
type ExchangeSettings struct {
	// AlternateExchange is the exchange for unroutable messages, if HasAE (DEC-14).
	AlternateExchange string
	HasAE             bool
	// MaxTTL caps the TTL of everything that the exchange routes, in ms, if
	// HasMaxTTL (TTL-9).
	MaxTTL    int64
	HasMaxTTL bool
}

// ExchangeSettingsFor merges the arguments of an exchange with the policies: the argument takes precedence (POL-8). A
// message-ttl applies to exchanges only in a policy for exchanges alone; in a policy that also applies to queues it
// applies only to these.
func ExchangeSettingsFor(args protocol.Table, e Effective) ExchangeSettings {
	var s ExchangeSettings
	for _, p := range [...]*Policy{e.user, e.operator} {
		if p == nil || p.covers != onExch {
			continue
		}
		if v, ok := p.Definition.Get(keyMessageTTL); ok {
			n, _ := integer(v)
			if n = min(n, forever); !s.HasMaxTTL || n < s.MaxTTL {
				s.MaxTTL, s.HasMaxTTL = n, true
			}
		}
	}
	if s.AlternateExchange, s.HasAE = stringArgument(args, keyAlternateExchange); !s.HasAE {
		s.AlternateExchange, s.HasAE = e.Text(keyAlternateExchange)
	}
	return s
}

// lowestOf returns the lower of argument and policy, unset without both.
func lowestOf(args protocol.Table, e Effective, key string) int64 {
	value := int64(unset)
	v, _ := argumentFor(args, key)
	argument, hasArgument := protocol.Int64(v)
	policy, hasPolicy := e.Int(key)
	switch {
	case hasArgument && hasPolicy:
		value = min(argument, policy)
	case hasArgument:
		value = argument
	case hasPolicy:
		value = policy
	}
	return min(max(value, unset), forever)
}

// textOf returns the argument or, if there is none, the policy's value.
func textOf(args protocol.Table, e Effective, key string) (string, bool) {
	v, _ := argumentFor(args, key)
	if s, ok := v.(string); ok {
		return s, true
	}
	return e.Text(key)
}

func flagOf(args protocol.Table, e Effective, key string) bool {
	if v, ok := argumentFor(args, key); ok {
		return v == true
	}
	value, _ := e.Flag(key)
	return value
}

// argumentFor returns the argument with a policy's key: x- and the key.
func argumentFor(args protocol.Table, key string) (any, bool) {
	for i := range args {
		if name, ok := strings.CutPrefix(args[i].Key, "x-"); ok && name == key {
			return args[i].Value, true
		}
	}
	return nil, false
}

func stringArgument(args protocol.Table, key string) (string, bool) {
	v, _ := args.Get(key)
	s, ok := v.(string)
	return s, ok
}

func intArgument(args protocol.Table, key string) (int64, bool) {
	v, ok := args.Get(key)
	if !ok {
		return 0, false
	}
	return protocol.Int64(v)
}

func flagArgument(args protocol.Table, key string) bool {
	v, _ := args.Get(key)
	return v == true
}
