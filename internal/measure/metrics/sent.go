package metrics

import "sync/atomic"

// Why is a reason for which a queue sends a message on: it is dead-lettered, or forwarded by forward-to.
type Why uint8

// The reasons, with the words of x-death.
const (
	Expired Why = iota
	Rejected
	MaxLen
	DeliveryLimit
	Hops
	Copies
	RuleFailed
	Forwarded

	Reasons
)

// String returns the word of x-death.
func (w Why) String() string {
	return [...]string{"expired", "rejected", "maxlen", "delivery_limit", "hops", "copies", "rule_failed", "forwarded"}[w]
}

// Sent counts the messages that one queue has sent on, by reason, since the queue began or the broker was started. The zero
// value has counted none, and takes next to no memory until one is. It is safe
// for concurrent use and must not be copied; nil counts nothing.
type Sent struct {
	counts atomic.Pointer[[Reasons]atomic.Uint64]
}

// Count counts one message. Only the queue calls it.
func (s *Sent) Count(w Why) {
	if s == nil {
		return
	}
	counts := s.counts.Load()
	if counts == nil {
		counts = new([Reasons]atomic.Uint64)
		s.counts.Store(counts)
	}
	counts[w].Add(1)
}

// Counts returns the counts so far, nil if there are none.
func (s *Sent) Counts() map[string]uint64 {
	if s == nil || s.counts.Load() == nil {
		return nil
	}
	all := map[string]uint64{}
	for w := range Reasons {
		if n := s.counts.Load()[w].Load(); n > 0 {
			all[w.String()] = n
		}
	}
	return all
}
