package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/policies"
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
		if m.Filter == nil || !m.Filter.Look {
			s.renewedBy(policies.RenewedByUpdate, expiry.LeaseUpdated, now)
		}
		messages.Rearrange{Messages: &s.messages, LookUp: s.out.lookups.LookUp, Limit: int(s.turnLimit), Done: func() { s.dueNow = true }}.Do(m, now)
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
	f.values[queuestats.Paged] += int64(x.Messages.Backlog.Paged())
	f.values[queuestats.PagedBytes] += x.Messages.Backlog.PagedBytes()
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
