package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// purge drops all ready messages (DL-9: not dead-lettered), and all scheduled (DLY-12) and deferred ones (DEFER-4).
// Overdue messages expire first. If no message is unacked, this is one step and one record, however many messages
// there are.
func (s *state) purge(m *mail.Purge, now clock.Instant) {
	reply := &mail.PurgeReply{Reply: m.Done(nil)}
	if reply.Err = access(s.queue, s.vhost, m.Connection); reply.Err != nil {
		s.out.Send(m.ReplyTo, reply)
		return
	}
	s.renewedBy(policies.RenewedByUpdate, lease.Updated, now)
	expired, kept, due, at := false, 0, now, backlog.Handle(1)
	s.pending.Start(&work.Work{
		Asked: m,
		Step: func(clock.Instant) bool {
			if !expired {
				if s.ExpireDue(due) || s.ExpireDeferred(due) {
					return false
				}
				expired, kept = true, s.Scheduled.Len()+s.Deferred.Len()
			}
			if s.Backlog.Len() == s.Backlog.Ready() && s.Duplicates.Len() == 0 && !s.Sessions.Noted() { // ids are in the journal, too
				reply.MessageCount += s.Backlog.Ready()
				s.Clear()
				return true
			}
			n := s.PurgeReady(int(s.turnLimit))
			reply.MessageCount += n
			return n < int(s.turnLimit) && s.PurgeScheduled(&at, int(s.turnLimit)) && messages.PurgeDeferred(&s.Set, int(s.turnLimit))
		},
		End: func(clock.Instant) {
			reply.MessageCount += kept
			s.Notices.Purged(kept)
			s.out.Send(m.ReplyTo, reply)
		},
	}, now)
}
