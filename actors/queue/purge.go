package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/purge"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// purge drops all messages that no consumer holds.
func (s *state) purge(m *mail.Purge, now clock.Instant) {
	if err := access(s.queue, s.vhost, m.Connection); err != nil {
		s.out.Send(m.ReplyTo, &mail.PurgeReply{Reply: m.Done(err)})
		return
	}
	s.renewedBy(policies.RenewedByUpdate, lease.Updated, now)
	purge.All(purgeParts(s), m, now)
}

// deleteMessages deletes some of the oldest messages.
func deleteMessages(s *state, m *mail.DeleteMessages, now clock.Instant) {
	s.renewedBy(policies.RenewedByUpdate, lease.Updated, now)
	purge.Oldest(purgeParts(s), m, now)
}

func purgeParts(s *state) purge.Parts {
	return purge.Parts{Messages: &s.Set, Pending: &s.pending, Out: &s.out.Posts, Limit: int(s.turnLimit)}
}
