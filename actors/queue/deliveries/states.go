package deliveries

import (
	"errors"
	"fmt"

	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/paging"
	"candlemark/actors/queue/sessions"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Use executes a command about a session.
func (r *Receivers) Use(m *mail.UseSession, now clock.Instant) {
	set := r.Messages.Sessions
	reply := &mail.UseSessionReply{Reply: m.Done(nil)}
	holder, until := set.Holder(m.ID, now.Floor())
	switch {
	case holder == nil || !mail.Same(m.Connection, holder.Connection):
		reply.Err = mail.ErrSessionLost
	case m.Renew:
		until = set.Renew(m.ID, store.After(now.Ceil(), r.period()))
	case m.Set:
		r.setState(m, reply)
		return
	default:
		reply.State = set.State(m.ID)
	}
	reply.Until = r.Messages.Dates.Date(until)
	r.Out.Send(m.ReplyTo, reply)
}

// setState stores a state. The answer follows when the journal has it.
func (r *Receivers) setState(m *mail.UseSession, reply *mail.UseSessionReply) {
	set, journal := r.Messages.Sessions, &r.Messages.Journal
	switch {
	case len(m.State) > sessions.MaxState:
		reply.Err = mail.ErrSessionState
	case !set.Fits(m.ID, m.State):
		reply.Err = mail.ErrSessionsFull
	case r.Messages.Full != nil && len(m.State) > len(set.State(m.ID)):
		reply.Err = fmt.Errorf("%w: %w", mail.ErrSessionsFull, r.Messages.Full)
	case journal.Err() != nil:
		reply.Err = mail.NotStored()
	}
	if reply.Err != nil {
		r.Out.Send(m.ReplyTo, reply)
		return
	}
	seq := uint64(0)
	if m.State != nil && journal.StoresNotes() {
		r.Messages.Seq++
		seq = r.Messages.Seq
		journal.NoteDown(seq, m.ID, m.State)
	}
	if before := set.SetState(m.ID, m.State, seq, journal.At); before != 0 {
		journal.Forget(before)
	}
	journal.Await(func(failed bool) {
		if failed {
			reply.Err = mail.NotStored()
		}
		r.Out.Send(m.ReplyTo, reply)
	})
}

// List answers with the ids of sessions, over several turns.
func (r *Receivers) List(m *mail.ListSessions, now clock.Instant) {
	if r.Messages.Sessions == nil {
		r.Out.Send(m.ReplyTo, &mail.SessionList{Reply: m.Done(mail.ErrNoSessions)})
		return
	}
	since, limit := m.Since, m.Limit
	if since != 0 {
		since = max(r.Messages.Dates.Deadline(since), 1)
	}
	if limit < 1 || limit > mail.MaxSessions {
		limit = mail.MaxSessions
	}
	page := r.Messages.Sessions.List(since, max(m.Skip, 0), limit)
	r.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(clock.Instant) bool { return page.Step(int(*r.Limit)) },
		End:  func(clock.Instant) { r.Out.Send(m.ReplyTo, &mail.SessionList{Reply: m.Done(nil), IDs: page.IDs}) },
	}, now)
}

// readLimit and readBytes limit one read of the journal to determine the sessions of messages.
const (
	readLimit = 256
	readBytes = 1 << 20
)

// read continues reading contents from the journal. Sessions are complete only after all are read.
func (r *Receivers) read() {
	want := r.Messages.Sessions.ToRead(readLimit, readBytes)
	if len(want) == 0 {
		r.Messages.Sessions.Known()
		return
	}
	r.reading = true
	r.Lookups.LookUp(nil, want, func(contents []store.Content, now clock.Instant) {
		r.reading = false
		for i := range contents {
			if !r.found(&contents[i]) {
				r.Messages.Sessions.Unknown(want[i], 0)
				r.pause = now.Ceil() + paging.ReadPause
			}
		}
	})
}

// found handles a content that was read, and reports whether the read succeeded.
func (r *Receivers) found(c *store.Content) bool {
	set := r.Messages.Sessions
	switch {
	case errors.Is(c.Err, store.ErrUnknown) && !set.Has(c.Seq): // removed during the read
	case errors.Is(c.Err, store.ErrUnknown), errors.Is(c.Err, store.ErrDamaged):
		messages.Damaged(r.Messages, c.Seq)
	case c.Err != nil:
		return false
	case c.Record.Note && set.NewerThan(string(c.Record.RoutingKey), c.Seq): // read again, after the others
		r.Messages.Journal.Forget(c.Seq)
	case c.Record.Note:
		if before := set.SetState(string(c.Record.RoutingKey), c.Record.Body, c.Seq, r.Messages.Dates.Deadline(c.Record.Time)); before != 0 {
			r.Messages.Journal.Forget(before) // left by a crash between two records
		}
	default:
		id, _ := sessions.IDOf(c.Record.Header)
		set.Know(c.Seq, id)
	}
	return true
}

// Next returns when a failed read is repeated, in wall ms.
func (r *Receivers) Next() (int64, bool) { return r.pause, r.pause != 0 }
