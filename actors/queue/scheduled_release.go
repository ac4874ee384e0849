package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

// releaseDue lets those go whose time has come, in the order of their times and
// numbers, a turn's worth at a time and as fast as release-rate allows. They are
// never early (DLY-9).
func (s *state) releaseDue(now clock.Instant) (more bool) {
	more = s.forwardRecovered()
	x, n := s.scheduled, 0
	if x == nil {
		return more
	}
	for ; !x.Reading; n++ {
		h, due, ok := x.First()
		if !ok || due > now.Floor() {
			break
		}
		if n == turnLimit {
			more = true
			break
		}
		if s.needsContentAtRelease(h) {
			s.readFirst(h)
			break
		}
		overdue := due <= x.Overdue && s.settings.OverdueMessages != policies.OverdueDeliver
		if !overdue && !x.Allow(s.settings.ReleaseRate, now.Floor()) {
			break
		}
		switch {
		case !overdue:
			s.releaseOne(h, now)
			continue
		case s.settings.OverdueMessages == policies.OverdueDrop:
			x.Drop(&s.journal, h, expired)
		default:
			s.endReady(s.released(h), expired)
		}
		x.GivenUp++
	}
	if _, due, ok := x.First(); x.GivenUp > 0 && (!ok || due > x.Overdue) {
		r := s.out.notices.Rare()
		r.Overdue, r.Rule, x.GivenUp = x.GivenUp, s.settings.OverdueMessages, 0
	}
	switch {
	case x.Len() == 0 && s.settings.ReleaseRate < 0:
		s.dropAllScheduled()
	case n > 0:
		x.Settle()
	}
	return more
}

// needsContentAtRelease reports whether a consumer is to get the message, which has a TTL of 0, at
// its time, that is now, and its content has to be read for that.
func (s *state) needsContentAtRelease(h backlog.Handle) bool {
	x := s.scheduled
	if !x.Messages.IsPaged(h) || x.Messages.Deadline(h) <= x.Overdue || s.holdsDelayed || x.Messages.Entry(h).Marks&backlog.Damaged != 0 {
		return false
	}
	_, own := x.Messages.Times(h)
	return s.expiry.TTL(own) == 0 && s.messages.Ready() == 0 && s.consumers.Next() != nil
}

// readFirst reads the content of the message that is released next. The others wait
// behind it.
func (s *state) readFirst(h backlog.Handle) {
	x := s.scheduled
	x.Reading = true
	s.out.lookups = append(s.out.lookups, &lookup{want: []store.Ref{x.Ref(h)}, found: func(contents []store.Content, now clock.Instant) {
		x.Reading = false
		c := &contents[0]
		if x.Messages.Has(h, c.Seq) && x.Messages.IsPaged(h) && (c.Err != nil || !content.PageIn(&x.Messages.Backlog, h, &c.Record)) {
			x.Messages.Entry(h).Marks |= backlog.Damaged // it expires
		}
		s.dueNow = true
	}})
}

// forwardRecovered gives a delayed exchange what was released before a crash, and may not have
// got there (DLY-14).
func (s *state) forwardRecovered() (more bool) {
	for n := 0; s.holdsDelayed && s.messages.Ready() > 0; n++ {
		if n == turnLimit {
			return true
		}
		h, _ := s.messages.First()
		s.expiry.Remove(h)
		s.endReady(h, expired)
	}
	return false
}

// releaseBefore lets what is due come before a mail that may find it: the timer may be
// late. The timer's own turn releases by itself.
func (s *state) releaseBefore(what any, now clock.Instant) {
	switch what.(type) {
	case timerFired, again, *mail.DescribeQueue, *mail.Trim, *mail.Peek, *mail.ListScheduled, *mail.ListUnacked:
	default:
		before := s.scheduled.Len()
		more := s.releaseDue(now)
		if s.scheduled.Len() < before {
			more = s.enforce(now) || more
			more = s.distribute(now) || more
		}
		s.unfinished = s.unfinished || more
	}
}

// releaseOne releases one: it goes to the tail, or to a consumer that can take it at
// once if nothing is ahead of it, as with a publish.
func (s *state) releaseOne(h backlog.Handle, now clock.Instant) {
	h = s.released(h)
	if s.holdsDelayed {
		s.endReady(h, expired)
		return
	}
	_, own := s.messages.Times(h)
	late := s.messages.Deadline(h) <= now.Floor()
	never := late && (s.expiry.TTL(own) != 0 || s.expiredByHeader(h, now)) // TTL 0: now or never (TTL-20)
	if s.settings.HasForward && late && !never && s.messages.Ready() == 1 && s.deadLetters.CanForward() && !s.messages.IsPaged(h) {
		s.forward(h, true)
		return
	}
	c := s.consumers.Next()
	if c != nil && s.messages.Ready() == 1 && !never && !s.messages.IsPaged(h) {
		s.deliver(c, h, now)
		return
	}
	if late {
		s.endReady(h, expired)
		return
	}
	s.expiry.Add(h)
	if s.overLimit && s.pager.Crowded(s.memory()) && s.messages.Entry(h).Marks&backlog.Stored == 0 {
		s.journal.Spill(&s.messages, h, false)
	}
}

// expiredByHeader reports whether the moment at which a message expires by its header has
// passed, of one whose content is in memory.
func (s *state) expiredByHeader(h backlog.Handle, now clock.Instant) bool {
	if s.settings.ExpiresAtHeader == "" || s.messages.IsPaged(h) {
		return false
	}
	r, reader := s.messages.Get(h), s.reader()
	at, ok := reader.Expiry(r.Overlay, r.Header)
	return ok && at <= now.Floor()
}

// released moves a message whose time has come, which is written down.
func (s *state) released(h backlog.Handle) backlog.Handle {
	h = s.scheduled.Move(h, &s.messages, &s.expiry, &s.journal)
	e := s.messages.Entry(h)
	s.journal.Note(store.Released, e)
	e.Marks |= backlog.Released
	return h
}
