package queue

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// purge drops all messages that no consumer holds.
func (s *state) purge(m *mail.Purge, now clock.Instant) {
	if err := access(s.queue, s.vhost, m.Connection); err != nil {
		s.out.Send(m.ReplyTo, &mail.PurgeReply{Reply: m.Done(err)})
		return
	}
	s.renewedBy(policies.RenewedByUpdate, leaseUpdated, now)
	purgeAll(purgeParts(s), m, now)
}

// deleteMessages deletes some of the oldest messages.
func deleteMessages(s *state, m *mail.DeleteMessages, now clock.Instant) {
	s.renewedBy(policies.RenewedByUpdate, leaseUpdated, now)
	purgeOldest(purgeParts(s), m, now)
}

func purgeParts(s *state) purgeSetup {
	return purgeSetup{Messages: &s.Messages, Pending: &s.pending, Out: &s.out.Posts, Limit: int(s.turnLimit)}
}
