package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/schedule"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// scheduled is the part with the messages that are not due yet. Due ones become ready.
type scheduled struct{ base }

// Judge reads the times in the headers, and keeps a message that is due later.
func (s scheduled) Judge(a *incoming) verdict {
	reader := s.messages.TimesReader()
	a.times = reader.Times(a.m, a.scanned.Of(a.m.Header), a.now)
	switch {
	case a.times.Due.At <= a.now.Floor():
		return pass
	case a.dry:
		return taken
	}
	return kept(s.messages.Schedule(a.m, a.times, a.now))
}

func (s scheduled) Next() (int64, bool) {
	return s.messages.Scheduled.NextRelease(s.messages.Settings.ReleaseRate)
}

// Handle takes commands about scheduled messages (DLY-11).
func (s scheduled) Handle(received any, now clock.Instant) (taken bool) {
	switch m := received.(type) {
	case *mail.ListScheduled:
		v := inspect.View{Scheduled: s.messages.Scheduled, Style: s.messages.Style()}
		s.out.answer(m, v.ListScheduled(m))
	case *mail.ChangeScheduled:
		if m.Cancel {
			s.change(m, m.Request, &schedule.Change{All: m.Seqs}, m.Seq, m.MessageID, now)
		} else {
			s.reschedule(m, now)
		}
	default:
		return false
	}
	return true
}

func (s scheduled) Restarted(now clock.Instant) {
	if x := s.messages.Scheduled; x != nil {
		x.Overdue = now.Floor()
	}
}

func (scheduled) Took(_ *incoming, v verdict) verdict { return v }

func (s scheduled) Show(v *inspect.View) { v.Scheduled = s.messages.Scheduled }
func (s scheduled) Busy() bool           { return s.messages.Scheduled.Len() > 0 }

func (s scheduled) Figures(f *figures) {
	x := s.messages.Scheduled
	if x == nil {
		return
	}
	f.held, f.waiting = f.held+x.Len(), f.waiting+x.Len()
	f.memory, f.counted = f.memory+x.Memory(), f.counted+x.Counted()
	f.values[queuestats.Scheduled] = int64(x.Len())
	f.values[queuestats.Timed] += int64(x.Len())
	f.values[queuestats.Paged] += int64(x.Messages.Paged())
	f.values[queuestats.PagedBytes] += x.Messages.PagedBytes()
	if f.info != nil {
		f.info.Scheduled = x.Counts(s.messages.Journal.At, s.messages.Dates)
	}
}

// Early releases due messages, except in the timer's own turn, which releases them anyway.
func (s scheduled) Early(received any, now clock.Instant) (did, more bool) {
	switch received.(type) {
	case timerFired, again, *mail.DescribeQueue, *mail.Trim, *mail.Peek, *mail.ListScheduled, *mail.ListUnacked:
		return false, false
	}
	before := s.messages.Scheduled.Len()
	more = s.Advance(now)
	return s.messages.Scheduled.Len() < before, more
}

// Advance releases due messages, by time and then number.
func (s scheduled) Advance(now clock.Instant) (more bool) {
	return deliveries.Release{Deliveries: &s.deliveries, From: s.source, Due: &s.dueNow}.Advance(now)
}

// reschedule gives messages a new due time, which is in wall-clock time.
func (s scheduled) reschedule(m *mail.ChangeScheduled, now clock.Instant) {
	due := s.messages.Dates.Deadline(m.Due)
	if m.Due < 1 || due-now.Ceil() > timeheaders.MaxDelay {
		s.out.Send(m.ReplyTo, &mail.ChangeScheduledReply{Reply: m.Done(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"invalid due time %d: expected milliseconds since 1970, at most 10 years from now", m.Due))})
		return
	}
	due = max(due, now.Floor())
	if x := s.messages.Scheduled; x != nil {
		due = max(due, x.Overdue+1)
	}
	s.change(m, m.Request, &schedule.Change{Due: due, All: m.Seqs}, m.Seq, m.MessageID, now)
}

// change reschedules or cancels the messages that a command names.
func (s scheduled) change(asked mail.Answerable, request mail.Request, c *schedule.Change, seq uint64, id string, now clock.Instant) {
	s.renewedBy(policies.RenewedByUpdate, expiry.LeaseUpdated, now)
	want, found := s.messages.Scheduled.Change(c, &s.messages.Journal, seq, id)
	if len(want) == 0 {
		s.answer(request, c)
		return
	}
	s.out.lookups.LookUp(asked, want, func(contents []store.Content, _ clock.Instant) {
		found(contents)
		s.answer(request, c)
	})
}

// answer answers a command; if it changed durable messages, only once the change is durable.
func (s scheduled) answer(request mail.Request, c *schedule.Change) {
	answer := func(failed bool) {
		reply := &mail.ChangeScheduledReply{Reply: request.Done(nil), Count: c.Count}
		if failed {
			reply.Err = protocol.ConnectionErrorf(protocol.InternalError,
				"the journal failed: it is not known whether %d scheduled messages of queue '%s' in vhost '%s' were changed",
				c.Count, s.queue.Name, s.vhost.Name)
		}
		s.out.Send(request.ReplyTo, reply)
	}
	if c.Stored {
		s.messages.Journal.Await(answer)
	} else {
		answer(false)
	}
	s.dueNow = true
}
