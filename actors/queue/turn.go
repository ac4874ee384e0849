package queue

import (
	"candlemark/actors/queue/consumers"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// handle is one turn of the core: one mail, then the steps that follow from it.
func (s *state) handle(received any, now clock.Instant) {
	s.Journal.At = now.Floor()
	switch received.(type) {
	case *mail.DescribeQueue, *mail.Trim, *mail.Peek, *mail.ListUnacked, *mail.ListScheduled, *mail.ListSessions, *mail.PreviewSettings, lookedUp:
	default:
		s.used, s.busy = s.Journal.At, (now + s.Pager.Apart).Floor()
	}
	s.act(received, now)
	s.pending.Handled()
	s.out.again = s.endTurn(now)
	releaseCredit(s, now)
}

// endTurn runs the steps that follow any mail, in one order: expire, enforce the limits, dead-letter, dispatch, page.
// Handlers of mail only change the state and run none of these steps. It reports whether another turn has to follow at
// once.
func (s *state) endTurn(now clock.Instant) (more bool) {
	switch {
	case s.phase == recovering:
	case s.pending.Work() != nil:
		more = true
		s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit))
	case s.phase == live:
		more = s.proceed(now)
	case s.phase == closing:
		more = s.farewell.lastAttempts(s, now)
	case s.phase == ending:
		more = s.farewell.turn(s, now)
	case s.phase == ended || s.farewell.command != nil: // nothing more is sent
	default:
		more = s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit))
	}
	more = continuePreview(s, now) || more || s.Unfinished
	s.Unfinished = false
	if s.pending.Work() == nil {
		more = s.Page(now, s.phase == live) || more
	}
	return more
}

// proceed runs the steps of a live queue. Steps that depend only on the time run only if a deadline is due.
func (s *state) proceed(now clock.Instant) (more bool) {
	due := s.dueNow
	s.dueNow = false
	if due {
		more = s.Expiry.Recompute(messages.TurnLimit)
		more = s.deliveries.Expire(now, func(c *consumers.Consumer) { s.detach(c, now) }) || more
		more = s.receivers.Expire(now) || more
		more = s.releaseDue(now) || more
		more = s.ExpireDue(now) || more
		more = s.AdvanceDeferred(now) || more
		more = messages.ForgetDuplicates(&s.Messages, now) || more
	}
	more = s.Enforce(now) || more
	if due {
		s.Pager.Resume(now)
		s.Sessions.Resume()
		s.resumeGets(now)
		s.DeadLetters.Retry(now, s.Dates)
	}
	s.receivers.Turn(now)
	more = s.distribute(now) || more
	more = more || s.Unfinished
	if s.consumerLeft && s.queue.AutoDelete && s.consumers.Len() == 0 {
		s.farewell.retire(s, autoDeleted) // LEASE-10
	}
	s.consumerLeft = false
	if due {
		if s.waking != nil && !more {
			s.out.Send(s.waking.ReplyTo, &mail.ActivateReply{Reply: s.waking.Done(nil)})
			s.waking = nil
		}
		s.endLease(now)
	}
	return more
}

// distribute sends dead letters and delivers ready messages. It flushes dead letters twice: messages no longer
// forwarded become ready, and dispatch may find expired ones.
func (s *state) distribute(now clock.Instant) (more bool) {
	more = s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit))
	dispatching := s.dispatch(now)
	return more || s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit)) || dispatching
}

// deadlines returns the queue's earliest deadline, in ms of the broker's time, and the earliest end of a pause, in ms of real time
// (CLK-4). While the vhost decides about the queue there is none.
func (s *state) deadlines() (due, pause earliest) {
	if s.phase == closing || s.phase == ending {
		due.of(s.farewell.deadline(s))
		if !s.farewell.cut {
			pause.of(s.Pager.Next())
		}
		return due, pause
	}
	if s.phase != live || s.pending.Work() != nil {
		return due, pause
	}
	due.of(s.Expiry.Next())
	due.of(s.lease.Deadline())
	due.of(s.deliveries.Timeouts.Next())
	due.of(s.Deferred.Next())
	due.of(s.Duplicates.Next())
	due.of(s.Sessions.Next())
	due.of(s.receivers.Next())
	due.of(s.DeadLetters.Next())
	due.of(s.Scheduled.NextRelease(s.Settings.ReleaseRate))
	pause.of(s.Pager.Next())
	pause.of(s.flow.Next())
	return due, pause
}

// earliest is the minimum of some deadlines; ok is false if there is none.
type earliest struct {
	at int64
	ok bool
}

func (e *earliest) of(at int64, ok bool) {
	if ok && (!e.ok || at < e.at) {
		e.at, e.ok = at, true
	}
}

// past reports whether there is one, and it has come.
func (e *earliest) past(now clock.Instant) bool { return e.ok && e.at <= now.Floor() }

// endLease ends the queue if its lease is over, unless its settings count the messages that it holds as a use
// (LEASE-13).
func (s *state) endLease(now clock.Instant) {
	if !s.lease.Expired(now.Floor()) {
		return
	}
	pending := s.Scheduled.Len() > 0
	if s.Settings.ExpiresIfEmpty && (s.Backlog.Len() > 0 || pending) || s.Settings.RenewedBy.Has(policies.RenewedByScheduled) && pending {
		by := leaseScheduled
		if s.Backlog.Len() > 0 {
			by = leaseNotEmpty
		}
		s.lease.Renew(now.Ceil(), by)
		return
	}
	s.farewell.retire(s, leaseRanOut)
}

// renewedBy renews the lease for a use that counts only if expires-renewed-by names it (LEASE-4).
func (s *state) renewedBy(use policies.Renewals, by leaseUse, now clock.Instant) {
	if s.Settings.RenewedBy.Has(use) {
		s.lease.Renew(now.Ceil(), by)
	}
}
