package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/schedule"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// Bounds of a turn for a command with a filter.
const (
	// sweepCost is the number of bytes of properties that are examined, and of bodies that are read with theirs.
	sweepCost = 1 << 20
	// sweepReads is the number of contents that are read.
	sweepReads = 512
)

// Rearrange carries out commands that cancel or reschedule waiting messages (DLY-11, DLY-17).
type Rearrange struct {
	Messages *Messages
	LookUp   func(asked mail.Answerable, want []store.Ref, found func([]store.Content, clock.Instant))
	Limit    int    // messages in a turn
	Done     func() // called after each change
}

// Do carries out a command.
func (r Rearrange) Do(m *mail.ChangeScheduled, now clock.Instant) {
	due := int64(0)
	if !m.Cancel && (m.Filter == nil || m.Filter.From == nil) {
		if due = r.newTime(m, now); due == 0 {
			r.Messages.out.Send(m.ReplyTo, &mail.ChangeScheduledReply{Reply: m.Done(protocol.ChannelErrorf(protocol.PreconditionFailed,
				"invalid due time %d: expected milliseconds since 1970, at most 10 years from now", m.Due))})
			return
		}
	}
	if f := m.Filter; f != nil && f.From != nil && f.From.Queue != r.Messages.queue.Incarnation {
		r.Messages.out.Send(m.ReplyTo, &mail.ChangeScheduledReply{Reply: m.Done(protocol.ChannelErrorf(protocol.NotFound,
			"queue '%s' in vhost '%s' was deleted meanwhile, and declared again", r.Messages.queue.Name, r.Messages.vhost.Name))})
		return
	}
	if m.Filter != nil {
		r.sweep(m, due)
		return
	}
	c := &schedule.Change{Due: due, All: m.Seqs}
	want, found := r.Messages.Scheduled.Change(c, &r.Messages.Journal, m.Seq, m.MessageID)
	r.finish(m, want, func(contents []store.Content) (*mail.ChangeScheduledReply, bool) {
		found(contents)
		return &mail.ChangeScheduledReply{Count: c.Count}, c.Stored
	})
}

// newTime returns the new time of a command, in the broker's time, 0 if it is invalid.
func (r Rearrange) newTime(m *mail.ChangeScheduled, now clock.Instant) int64 {
	s := r.Messages
	due := s.Dates.Deadline(m.Due)
	if m.Due < 1 || due-now.Ceil() > timeheaders.MaxDelay {
		return 0
	}
	due = max(due, now.Floor())
	if x := s.Scheduled; x != nil {
		due = max(due, x.Overdue+1)
	}
	return due
}

// finish ends a command after the contents that it wants were read: end returns the answer, and whether durable messages
// have changed. Then the answer waits for the journal.
func (r Rearrange) finish(m *mail.ChangeScheduled, want []store.Ref, end func([]store.Content) (*mail.ChangeScheduledReply, bool)) {
	s := r.Messages
	answer := func(contents []store.Content) {
		reply, stored := end(contents)
		reply.Reply = m.Done(nil)
		send := func(failed bool) {
			if failed {
				reply.Err = protocol.ConnectionErrorf(protocol.InternalError,
					"the journal failed: it is not known whether %d scheduled messages of queue '%s' in vhost '%s' were changed", reply.Count, s.queue.Name, s.vhost.Name)
			}
			s.out.Send(m.ReplyTo, reply)
		}
		if r.Done(); stored {
			s.Journal.Await(send)
		} else {
			send(false)
		}
	}
	if len(want) == 0 {
		answer(nil)
		return
	}
	r.LookUp(m, want, func(contents []store.Content, _ clock.Instant) { answer(contents) })
}

// sweep is a turn of a command with a filter.
type sweep struct {
	Rearrange
	waiting
	*mail.ScheduledFilter
	cancel        bool
	match         content.Match
	at            mail.ScheduledPlace
	from, before  int64 // bounds of the time, in the broker's, 0 for none
	hits, reading []backlog.Handle
	want          []store.Ref
	reply         *mail.ChangeScheduledReply
	stored        bool
}

// sweep changes the messages among the next ones that the filter selects.
func (r Rearrange) sweep(m *mail.ChangeScheduled, due int64) {
	s := r.Messages
	x := &sweep{Rearrange: r, ScheduledFilter: m.Filter, cancel: m.Cancel, match: content.MatchOf(m.Filter), reply: &mail.ChangeScheduledReply{}}
	if x.waiting = (planned{s}); m.Filter.Retries {
		x.waiting = postponed{s}
	}
	if x.at = (mail.ScheduledPlace{Queue: s.queue.Incarnation, Due: due, Last: s.Seq}); m.Filter.From != nil {
		x.at = *m.Filter.From
	}
	if m.Filter.DueBefore != 0 {
		x.before = s.Dates.Deadline(m.Filter.DueBefore)
	}
	if m.Filter.DueFrom != 0 {
		x.from = s.Dates.Deadline(m.Filter.DueFrom)
		if x.at.After.Due < x.from {
			x.at.After = mail.Cursor{Due: x.from}
		}
	}
	x.look()
	for _, h := range x.hits {
		x.change(h)
	}
	r.finish(m, x.want, func(contents []store.Content) (*mail.ChangeScheduledReply, bool) {
		x.found(contents)
		return x.reply, x.stored
	})
}

// look finds the messages of a turn: hits, and those whose contents have to be read first.
func (x *sweep) look() {
	examined, cost := 0, 0
	x.behind(x.at.After.Due, x.at.After.Seq, func(h backlog.Handle) bool {
		if examined == x.Limit || cost >= sweepCost || len(x.want) >= sweepReads {
			x.reply.Next = &x.at
			return false
		}
		if x.before != 0 && x.due(h) >= x.before {
			return false
		}
		examined++
		b := x.backlog()
		x.at.After = mail.Cursor{Due: x.due(h), Seq: b.Seq(h)}
		switch {
		case !x.meant(h):
		case x.match.All():
			x.hits = append(x.hits, h)
		case b.IsPaged(h):
			cost += int(b.Size(h))
			x.want, x.reading = append(x.want, store.Ref{Seq: b.Seq(h), At: store.Position(b.Place(h))}), append(x.reading, h)
		default:
			var r backlog.Record
			b.Get(h, &r)
			if cost += x.match.Cost(r.Header); x.match.Holds(r.Header) {
				x.hits = append(x.hits, h)
			}
		}
		return true
	})
}

// meant reports whether a message waits for a time within the bounds, which is not yet its new one, and may have the message-id.
func (x *sweep) meant(h backlog.Handle) bool {
	if x.match.ID != 0 {
		if id, known := x.hash(h); known && id != x.match.ID {
			return false
		}
	}
	due := x.due(h)
	return x.backlog().Seq(h) <= x.at.Last && due >= x.from && (x.before == 0 || due < x.before) && due != x.at.Due
}

// found judges messages by the contents that were read. In the meantime they may have been released, or changed.
func (x *sweep) found(contents []store.Content) {
	for i := range contents {
		h, read := x.reading[i], &contents[i]
		switch {
		case !x.waits(h, read.Seq) || !x.meant(h):
		case read.Err != nil:
			x.reply.Unreadable++
		case x.match.Holds(read.Record.Header):
			x.change(h)
		}
	}
}

// change applies the command to a message.
func (x *sweep) change(h backlog.Handle) {
	x.reply.Count++
	if x.Look {
		return
	}
	x.stored = x.stored || x.backlog().Entry(h).Marks&backlog.Written != 0
	if x.cancel {
		x.drop(h)
	} else {
		x.postpone(h, x.at.Due)
	}
}
