package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// This part removes messages of a queue on command: all of them, or some of the oldest.
//
// Owns: nothing.

// oldestPurge is a DeleteMessages in progress.
type oldestPurge struct {
	Purge
	asked   *mail.DeleteMessages
	before  int64   // in the broker's time
	session *string // nil for none
	spot    backlog.Spot
	found   []backlog.Handle // of a turn
	reply   *mail.DeleteMessagesReply
}

// Oldest deletes ready messages from the head of the queue (SBE-8).
func (p Purge) Oldest(m *mail.DeleteMessages, now clock.Instant) {
	x := &oldestPurge{Purge: p, asked: m, before: p.Messages.Dates.Deadline(m.Before), reply: &mail.DeleteMessagesReply{Reply: m.Done(nil)}}
	if x.reply.Err = x.locked(now); x.reply.Err != nil {
		p.Out.Send(m.ReplyTo, x.reply)
		return
	}
	p.Pending.Start(&LongCommand{Expires: true, Asked: m, Step: x.step, End: x.end}, now)
}

// locked checks that the sender has locked the session, if the queue has sessions.
func (x *oldestPurge) locked(now clock.Instant) error {
	set, m := x.Messages.Sessions, x.asked
	if set == nil {
		return nil
	}
	id, by := set.Asked(m.Session, m.Link, m.Connection, now.Floor())
	switch x.session = id; {
	case id == nil:
		return mail.ErrSessionNeeded
	case by == nil:
		return mail.ErrSessionLost
	}
	return nil
}

// step examines as many messages as a turn allows. Messages past their deadline are left to expire.
func (x *oldestPurge) step(now clock.Instant) (done bool) {
	s, n := x.Messages, 0
	s.Backlog.Behind(x.spot, func(h backlog.Handle) bool {
		n++
		x.spot = s.Backlog.Spot(h)
		if x.meant(h) && s.Expiry.Retime(h) > now.Floor() {
			x.found = append(x.found, h)
		}
		return n < x.Limit && x.reply.Count+len(x.found) < x.asked.Limit
	})
	for _, h := range x.found {
		s.Expiry.Remove(h)
		s.Remove(h, store.Purged)
	}
	x.reply.Count += len(x.found)
	x.found = x.found[:0]
	return n < x.Limit || x.reply.Count >= x.asked.Limit
}

// meant reports whether a message is old enough, and in the session.
func (x *oldestPurge) meant(h backlog.Handle) bool {
	set := x.Messages
	if enqueued, _ := set.Backlog.Times(h); x.asked.Before != 0 && enqueued >= x.before {
		return false
	}
	if x.session == nil {
		return true
	}
	id, ok := set.Sessions.Of(set.Backlog.Seq(h))
	return ok && id == *x.session
}

// end answers when the deletions are in the journal.
func (x *oldestPurge) end(clock.Instant) {
	x.Messages.Journal.AwaitAll(func(failed bool) { // DUR-3
		if failed {
			x.reply.Err = mail.NotRecorded()
		}
		x.Out.Send(x.asked.ReplyTo, x.reply)
	})
}
