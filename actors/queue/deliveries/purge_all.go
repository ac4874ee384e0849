package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// Purge has the parts of a queue that a purge uses.
type Purge struct {
	Messages *messages.Messages
	Pending  *Pending
	Out      *mail.Posts
	Limit    int // of messages per turn
	// Noted reports whether the journal has records that are no messages.
	Noted func() bool
}

// All drops all ready messages (DL-9: not dead-lettered), and all scheduled (DLY-12) and deferred ones (DEFER-4).
// Overdue messages expire first. If no message is unacked, this is one step and one record for any number of messages.
func (p Purge) All(m *mail.Purge, now clock.Instant) {
	s, reply := p.Messages, &mail.PurgeReply{Reply: m.Done(nil)}
	expired, kept, due, at := false, 0, now, backlog.Handle(1)
	p.Pending.Start(&LongCommand{
		Asked: m,
		Step: func(clock.Instant) bool {
			if !expired {
				if s.ExpireAll(due) {
					return false
				}
				expired, kept = true, s.Scheduled.Len()+s.Deferred.Len()
			}
			if s.Backlog.Len() == s.Backlog.Ready() && !p.Noted() {
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
