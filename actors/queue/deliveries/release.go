package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// Release makes scheduled messages that are due ready.
type Release struct {
	Deliveries *Deliveries
	From       Source // of what is delivered
	Due        *bool  // set when Advance has to be called again
}

// Advance releases due messages, by time and then number. release-rate limits the rate. No message is
// released early (DLY-9).
func (r Release) Advance(now clock.Instant) (more bool) {
	s := r.Deliveries.Messages
	more = s.SendRecovered()
	x, n := s.Scheduled, 0
	if x == nil {
		return more
	}
	for ; !x.Reading; n++ {
		h, due, ok := x.First()
		if !ok || due > now.Floor() {
			break
		}
		if n == messages.TurnLimit {
			more = true
			break
		}
		if s.NeedsContent(h) && r.Deliveries.Consumers.Next() != nil {
			r.readFirst(h)
			break
		}
		overdue := due <= x.Overdue && s.Settings.OverdueMessages != policies.OverdueDeliver
		if !overdue && !x.Allow(s.Settings.ReleaseRate, now.Floor()) {
			break
		}
		switch {
		case !overdue:
			if s.Settings.ReleaseRate < 0 { // a release rate delays messages on purpose
				s.Late.Released(due, int64(now))
			}
			r.one(h, now)
			continue
		case s.Settings.OverdueMessages == policies.OverdueDrop:
			x.Drop(&s.Journal, h, store.Expired)
		default:
			s.EndReady(s.Release(h), store.Expired)
		}
		x.GivenUp++
	}
	if _, due, ok := x.First(); x.GivenUp > 0 && (!ok || due > x.Overdue) {
		r := s.Notices.Rare()
		r.Overdue, r.Rule, x.GivenUp = x.GivenUp, s.Settings.OverdueMessages, 0
	}
	switch {
	case x.Len() == 0 && s.Settings.ReleaseRate < 0:
		s.ClearScheduled()
	case n > 0:
		x.Settle()
	}
	return more
}

// readFirst reads the content of the message to be released next. The others wait for it.
func (r Release) readFirst(h backlog.Handle) {
	x := r.Deliveries.Messages.Scheduled
	x.Reading = true
	r.Deliveries.Lookups.LookUp(nil, []store.Ref{x.Ref(h)}, func(contents []store.Content, now clock.Instant) {
		x.Reading = false
		c := &contents[0]
		if x.Messages.Backlog.Has(h, c.Seq) && x.Messages.Backlog.IsPaged(h) && (c.Err != nil || !content.PageIn(&x.Messages.Backlog, h, &c.Record)) {
			x.Messages.Backlog.Entry(h).Marks |= backlog.Damaged // damaged messages expire
		}
		*r.Due = true
	})
}

// one moves a message to the tail, or delivers it at once if none is ahead of it, like a publish.
func (r Release) one(h backlog.Handle, now clock.Instant) {
	s := r.Deliveries.Messages
	h = s.Release(h)
	if s.Holds {
		s.EndReady(h, store.Expired)
		return
	}
	_, own := s.Backlog.Times(h)
	late := s.Backlog.Deadline(h) <= now.Floor()
	never := late && (s.Expiry.TTL(own) != 0 || s.ExpiredByHeader(h, now)) // TTL 0: deliver at once or expire (TTL-20)
	if s.Settings.HasForward && late && !never && s.Backlog.Ready() == 1 && s.DeadLetters.CanForward() && !s.Backlog.IsPaged(h) {
		s.Forward(h, true)
		return
	}
	c := r.From.First(mail.ChargeOf(int(s.Backlog.Size(h))))
	if c != nil && s.Backlog.Ready() == 1 && !never && !s.Backlog.IsPaged(h) {
		r.Deliveries.Deliver(c, h, now)
		return
	}
	if late {
		s.EndReady(h, store.Expired)
		return
	}
	s.Wait(h)
}
