package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/policies"
)

// handle is one turn of the core: one mail, then what follows from it.
func (s *state) handle(what any, now clock.Instant) {
	s.journal.At = now.Floor()
	switch what.(type) {
	case *mail.DescribeQueue, *mail.Trim, *mail.Peek, *mail.ListUnacked, *mail.ListScheduled, lookedUp:
	default:
		s.used = s.journal.At
	}
	s.act(what, now)
	s.pending.Handled()
	s.out.again = s.endTurn(now)
}

// endTurn does what follows from a mail, in the same order for each: expire, enforce the
// limits, dead-letter, dispatch, page. Mail only changes the state; whoever handles it
// does none of this. It reports whether there is more to be done, in a turn that follows at once.
func (s *state) endTurn(now clock.Instant) (more bool) {
	switch {
	case s.phase == asleep:
	case s.pending.Work() != nil:
		more = true
		s.deadLetters.Flush(now, s.skew, int(s.turnMost))
	case s.phase == live:
		more = s.proceed(now)
	case s.phase == draining:
		more = s.drain(now)
	default:
		more = s.deadLetters.Flush(now, s.skew, int(s.turnMost))
	}
	more = more || s.unfinished
	s.unfinished = false
	if s.pending.Work() == nil {
		more = s.page(now) || more
	}
	return more
}

// proceed is the pipeline of a queue that is live. What depends on the time, and not
// on what the mail has changed, is done when something is due.
func (s *state) proceed(now clock.Instant) (more bool) {
	due := s.dueNow
	s.dueNow = false
	if due {
		more = s.expiry.Recompute(turnLimit)
		more = s.expireAckTimeouts(now) || more
		more = s.releaseDue(now) || more
		more = s.expireDue(now) || more
	}
	more = s.enforce(now) || more
	if due {
		s.pager.Resume(now)
		s.resumeGets(now)
		s.deadLetters.Retry(now, s.skew)
	}
	more = s.distribute(now) || more
	more = more || s.unfinished
	if s.consumerLeft && s.queue.AutoDelete && s.consumers.Len() == 0 {
		s.retire(autoDeleted, nil) // LEASE-10
	}
	s.consumerLeft = false
	if due {
		s.wakeIfDone(more)
		s.endLease(now)
	}
	return more
}

// distribute sends dead letters on their way and ready messages to consumers. What is
// not to be forwarded any more is ready again, and of what is ready some turns out to have expired.
func (s *state) distribute(now clock.Instant) (more bool) {
	more = s.deadLetters.Flush(now, s.skew, int(s.turnMost))
	dispatching := s.dispatch(now)
	return more || s.deadLetters.Flush(now, s.skew, int(s.turnMost)) || dispatching
}

// page reads the contents that are soon needed, and lets others leave while memory is
// tight.
func (s *state) page(now clock.Instant) (more bool) {
	if s.messages.Paged() > 0 && s.consumers.Len() > 0 && s.phase == live {
		s.pager.ReadAhead(s.memory(), now)
	}
	if s.overLimit && s.phase < draining {
		more = s.pager.Trim(s.memory())
	}
	return more
}

// deadline is the earliest of what the queue waits for, in wall ms. Nothing is
// due while the vhost decides about it.
func (s *state) deadline() (int64, bool) {
	if s.phase != live || s.pending.Work() != nil {
		return 0, false
	}
	var next earliest
	next.of(s.expiry.Next())
	next.of(s.lease.Deadline())
	next.of(s.ackTimeouts.Next())
	next.of(s.deadLetters.Next())
	next.of(s.scheduled.NextRelease(s.settings.ReleaseRate))
	next.of(s.pager.Next())
	return next.at, next.ok
}

// earliest is the earliest of some deadlines, ok if there is one.
type earliest struct {
	at int64
	ok bool
}

func (e *earliest) of(at int64, ok bool) {
	if ok && (!e.ok || at < e.at) {
		e.at, e.ok = at, true
	}
}

// endLease ends the queue if its lease is over, unless the settings count what it holds
// as a use (LEASE-13).
func (s *state) endLease(now clock.Instant) {
	if !s.lease.Expired(now.Floor()) {
		return
	}
	pending := s.scheduled.Len() > 0
	if s.settings.ExpiresIfEmpty && (s.messages.Len() > 0 || pending) || s.settings.RenewedBy.Has(policies.RenewedByScheduled) && pending {
		s.lease.Renew(now.Ceil())
		return
	}
	s.retire(leaseRanOut, nil)
}

// renewedBy renews the lease for what is a use only if expires-renewed-by says so
// (LEASE-4).
func (s *state) renewedBy(use policies.Renewals, now clock.Instant) {
	if s.settings.RenewedBy.Has(use) {
		s.lease.Renew(now.Ceil())
	}
}

// expireDue ends the messages past their deadline, a turn's worth at a time (TTL-33). It reports whether there may be
// more.
func (s *state) expireDue(now clock.Instant) (more bool) {
	more = s.expiry.Advance(now, turnLimit, func(h backlog.Handle) { s.endReady(h, expired) })
	s.unfinished = s.unfinished || more
	return more
}

// first is the first ready message that is not past its deadline. A turn's worth of expired ones may hide it: then it is not ok, and
// another turn follows.
func (s *state) first(now clock.Instant) (backlog.Handle, bool) {
	h, ok, more := s.expiry.First(now, turnLimit, func(h backlog.Handle) { s.endReady(h, expired) })
	s.unfinished = s.unfinished || more
	return h, ok
}
