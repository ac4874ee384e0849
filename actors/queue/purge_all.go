package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// purgeSetup are the parts of a queue that a purge uses.
type purgeSetup struct {
	Messages *messages.Messages
	Pending  *deliveries.Pending
	Out      *mail.Posts
	Limit    int // of messages per turn
}

// purgeAll drops all ready messages (DL-9: not dead-lettered), and all scheduled (DLY-12) and deferred ones (DEFER-4).
// Overdue messages expire first. If no message is unacked, this is one step and one record for any number of messages.
func purgeAll(p purgeSetup, m *mail.Purge, now clock.Instant) {
	s, reply := p.Messages, &mail.PurgeReply{Reply: m.Done(nil)}
	expired, kept, due, at := false, 0, now, backlog.Handle(1)
	p.Pending.Start(&deliveries.LongCommand{
		Asked: m,
		Step: func(clock.Instant) bool {
			if !expired {
				if s.ExpireDue(due) || s.AdvanceDeferred(due) {
					return false
				}
				expired, kept = true, s.Scheduled.Len()+s.Deferred.Len()
			}
			if s.Backlog.Len() == s.Backlog.Ready() && s.Duplicates.Len() == 0 && !s.Sessions.Noted() { // ids are in the journal, too
				reply.MessageCount += s.Backlog.Ready()
				s.Clear()
				return true
			}
			n := s.PurgeReady(p.Limit)
			reply.MessageCount += n
			return n < p.Limit && s.PurgeScheduled(&at, p.Limit) && messages.PurgeDeferred(s, p.Limit)
		},
		End: func(clock.Instant) {
			reply.MessageCount += kept
			s.Notices.Purged(kept)
			s.Journal.AwaitAll(func(failed bool) { // DUR-3
				if failed {
					reply.Err = mail.NotRecorded()
				}
				p.Out.Send(m.ReplyTo, reply)
			})
		},
	}, now)
}
