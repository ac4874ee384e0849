package deadletter

import "sync/atomic"

// Stats counts what became of dead letters since the broker started. One actor
// writes, anybody may read; a reading is not one moment's (DL-29, TTL-29).
type Stats struct {
	Expired, Rejected, MaxLen, DeliveryLimit ReasonStats // by reason (DL-9)

	// Hops are those that queues have moved on too often.
	Hops ReasonStats
	// Forwarded are no dead letters but what queues have moved on.
	Forwarded ReasonStats
	// Delayed are no dead letters but what delayed exchanges have released (DLY-4).
	Delayed ReasonStats
	// Replayed are no dead letters but what recent-history exchanges have given to others (DEC-17).
	Replayed ReasonStats

	// QueuesExpired are leases that ran out, Discarded the messages that went
	// with those queues (LEASE-7).
	QueuesExpired, Discarded atomic.Uint64
}

// ReasonStats are the numbers of one reason.
type ReasonStats struct {
	// Disabled are messages that were in queues without dead-lettering for them;
	// they and NoExchange are the strategy "disabled" of DL-29. Queues count them.
	Disabled atomic.Uint64
	// AtMostOnce and AtLeastOnce are all others that left their queue for this
	// reason, by how much that cared, wherever they went.
	AtMostOnce, AtLeastOnce atomic.Uint64
	// Routed are messages that went to one target or more, Confirmed those of
	// them whose targets have all taken them.
	Routed, Confirmed atomic.Uint64
	// NoExchange are messages dropped because the dead-letter exchange did not
	// exist, Unroutable because it led nowhere (DL-13), Failed because they made
	// the actor panic.
	NoExchange, Unroutable, Failed atomic.Uint64
	// Kept counts attempts after which a message stayed in its queue, to be tried
	// again (DL-30); they count nowhere else.
	Kept atomic.Uint64
	// Cycles are copies dropped because they closed a cycle (DL-25), Refused
	// those that a target did not take, or that a rule could not make (SBR-6), LostTargets those whose target ended
	// without an answer.
	Cycles, Refused, LostTargets atomic.Uint64
}

// The reasons that stand for a release, for moving on, and for a replay.
const (
	replayed  = "replayed"
	delayed   = "delayed"
	forwarded = "forwarded"
)

// ByReason are the numbers of a reason as mail and x-death name it.
func (s *Stats) ByReason(reason string) *ReasonStats {
	switch reason {
	case "rejected":
		return &s.Rejected
	case "maxlen":
		return &s.MaxLen
	case "delivery_limit":
		return &s.DeliveryLimit
	case "hops":
		return &s.Hops
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
