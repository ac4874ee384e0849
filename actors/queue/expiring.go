package queue

import (
	"candlemark/actors/queue/messages"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// expiring is the part that expires ready messages.
type expiring struct{ base }

func (s expiring) Next() (int64, bool) { return s.messages.Expiry.Next() }

// Advance continues the computation of new deadlines, and expires messages.
func (s expiring) Advance(now clock.Instant) (more bool) {
	more = s.messages.Expiry.Recompute(messages.TurnLimit)
	return s.messages.ExpireDue(now) || more
}

// Settings Messages keep their deadlines (TTL-24), unless the policy says otherwise (TTL-25). If the queue
// is recovering, the computation begins when it wakes.
func (s expiring) Settings(before *policies.QueueSettings, _ clock.Instant) {
	if before != nil && s.phase != ending {
		s.messages.Expiry.Follow(before)
	}
}
