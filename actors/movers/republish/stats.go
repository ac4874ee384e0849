package republish

import "sync/atomic"

// Stats counts the results of dead letters since the broker started. One actor writes, any goroutine may read; the
// counts are not consistent with each other (DL-29, TTL-29).
type Stats struct {
	Expired, Rejected, MaxLen, DeliveryLimit ReasonStats // by reason (DL-9)

	// Hops are messages forwarded too often, Copies messages that could not be forwarded because they would have had too
	// many copies (DL-32).
	Hops, Copies ReasonStats
	// RuleFailed are messages to which a rule could not be applied (SBR-7).
	RuleFailed ReasonStats
	// Forwarded are not dead letters, but messages that queues have forwarded.
	Forwarded ReasonStats
	// Delayed are not dead letters, but messages that delayed exchanges have released (DLY-4).
	Delayed ReasonStats
	// Answered are not dead letters, but requests that queues have dropped and that are answered (ANS-1).
	Answered ReasonStats
	// Replayed are not dead letters, but messages that recent-history exchanges have sent to other exchanges
	// (DEC-17).
	Replayed ReasonStats

	// Waiting is the number of queues, and exchanges, with a message that waits until it may be copied (DL-33).
	Waiting atomic.Int64

	// QueuesExpired counts expired queues, Discarded the messages discarded with them (LEASE-7).
	QueuesExpired, Discarded atomic.Uint64
}

// ReasonStats are the counts for one reason.
type ReasonStats struct {
	// Disabled are messages of queues without dead-lettering; with NoExchange they are the strategy "disabled" of
	// DL-29. Queues count them.
	Disabled atomic.Uint64
	// AtMostOnce and AtLeastOnce are all other messages that left their queue for this reason, by strategy, with any
	// result.
	AtMostOnce, AtLeastOnce atomic.Uint64
	// Routed are messages with at least one target, Confirmed messages that all targets have taken.
	Routed, Confirmed atomic.Uint64
	// NoExchange are messages dropped because the dead-letter exchange did not exist, Unroutable messages without a target
	// (DL-13), Failed messages that caused a panic.
	NoExchange, Unroutable, Failed atomic.Uint64
	// Kept counts attempts after which a message stayed in its queue, to be retried (DL-30); they are counted nowhere
	// else.
	Kept atomic.Uint64
	// Exceeded are messages that were not sent on because they would have had too many copies (DL-32). Forwarded ones
	// return to their queue, and are counted nowhere else; others are dropped.
	Exceeded atomic.Uint64
	// Cycles are copies dropped because of a cycle (DL-25), Refused copies not taken by a target or whose action failed
	// (SBR-6), LostTargets copies whose target ended without an answer.
	Cycles, Refused, LostTargets atomic.Uint64
}

// The pseudo-reasons for releases, forwarding and replays.
const (
	rejected  = "rejected"
	replayed  = "replayed"
	delayed   = "delayed"
	forwarded = "forwarded"
)

// ByReason returns the counts of a reason as named in mail and x-death.
func (s *Stats) ByReason(reason string) *ReasonStats {
	switch reason {
	case rejected:
		return &s.Rejected
	case "maxlen":
		return &s.MaxLen
	case "delivery_limit":
		return &s.DeliveryLimit
	case "hops":
		return &s.Hops
	case "copies":
		return &s.Copies
	case "rule_failed":
		return &s.RuleFailed
	case forwarded:
		return &s.Forwarded
	case replayed:
		return &s.Replayed
	case delayed:
		return &s.Delayed
	default:
		return &s.Expired
	}
}
