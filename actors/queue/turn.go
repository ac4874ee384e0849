package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// handle is one turn of the core: one mail, then the steps that follow from it.
func (s *state) handle(received any, now clock.Instant) {
	s.messages.Journal.At = now.Floor()
	switch received.(type) {
	case *mail.DescribeQueue, *mail.Trim, *mail.Peek, *mail.ListUnacked, *mail.ListScheduled, *mail.ListSessions, *mail.PreviewSettings, *deliveries.LookedUp:
	default:
		s.used, s.busy = s.messages.Journal.At, (now + s.messages.Pager.Apart).Floor()
	}
	s.act(received, now)
	s.pending.Handled()
	s.out.again = s.endTurn(now)
	s.flow.EndTurn(now)
}

// endTurn runs the steps that follow any mail. Handlers of mail only change the state and run none of these steps. It
// reports whether another turn has to follow at once.
func (s *state) endTurn(now clock.Instant) (more bool) {
	switch {
	case s.phase == recovering:
	case s.pending.Work() != nil:
		more = true
		s.sendLetters(now)
	case s.phase == live:
		more = s.proceed(now)
	case s.phase == closing:
		more = s.farewell.lastAttempts(now)
	case s.phase == ending:
		more = s.farewell.turn(now)
	case s.phase == ended || s.farewell.command != nil: // nothing more is sent
	default:
		more = s.sendLetters(now)
	}
	more = more || s.messages.Unfinished
	s.messages.Unfinished = false
	if s.pending.Work() == nil {
		more = s.messages.Page(now, s.phase == live) || more
	}
	return more
}

// proceed runs the steps of a live queue, in one order. Steps that depend only on the time run only if a deadline is due.
func (s *state) proceed(now clock.Instant) (more bool) {
	due := s.dueNow
	s.dueNow = false
	if due { // 1. what is due
		for _, of := range parts {
			if p := of(s); p != nil {
				more = p.Advance(now) || more
			}
		}
	}
	more = s.messages.Enforce(now) || more // 2. what is too much
	if due {                               // 3. what has waited for contents
		s.resume(now)
	}
	s.source.Assign(now)
	more = s.distribute(now) || more // 4. what is sent and delivered
	more = more || s.messages.Unfinished
	s.endUnused(due, more, now) // 5. the queue itself
	return more
}

// distribute sends dead letters and delivers ready messages. It sends dead letters twice: messages no longer forwarded
// become ready, and dispatch may find expired ones. It does nothing while the queue has told too much already (CLU-40).
func (s *state) distribute(now clock.Instant) (more bool) {
	if s.full {
		return false
	}
	more = s.sendLetters(now)
	dispatching := false
	if x := s.diverter(); x != nil {
		dispatching = x.Divert(now)
	}
	dispatching = s.deliveries.Dispatch(s.source, now) || dispatching
	return more || s.sendLetters(now) || dispatching
}

// sendLetters sends dead letters, and reports whether more could be sent.
func (s *host) sendLetters(now clock.Instant) (more bool) {
	return s.messages.DeadLetters.Flush(now, s.messages.Dates, int(s.turnLimit))
}

// actEarly does what is due before a mail that depends on it.
func (s *state) actEarly(x early, received any, now clock.Instant) {
	did, more := x.Early(received, now)
	if did {
		more = s.messages.Enforce(now) || more
		more = s.distribute(now) || more
	}
	s.messages.Unfinished = s.messages.Unfinished || more
}

// resume continues what has waited for contents.
func (s *state) resume(now clock.Instant) {
	s.each(func(p part) {
		if w, ok := p.(waiter); ok {
			w.Resume(now)
		}
	})
}

// endUnused ends a queue whose consumers have left or whose lease is over. more: the turn has not finished.
func (s *state) endUnused(due, more bool, now clock.Instant) {
	if s.consumerLeft && s.queue.AutoDelete && s.consumers.Len() == 0 {
		s.farewell.retire(autoDeleted) // LEASE-10
	}
	s.consumerLeft = false
	if !due {
		return
	}
	if s.waking != nil && !more {
		s.out.Send(s.waking.ReplyTo, &mail.ActivateReply{Reply: s.waking.Done(nil)})
		s.waking = nil
	}
	if s.lease.Expired(now.Floor()) && !(unused{base{&s.host}}).excused(s.figures().held, now) {
		s.farewell.retire(leaseRanOut)
	}
}

// deadlines returns the queue's earliest deadline, in ms of the broker's time, and the earliest end of a pause, in ms of real time
// (CLK-4). While the vhost decides about the queue there is none.
func (s *state) deadlines() (due, pause earliest) {
	if s.phase == closing || s.phase == ending {
		due.of(s.farewell.deadline())
		if !s.farewell.cut {
			pause.of(s.messages.Pager.Next())
		}
		return due, pause
	}
	if s.phase != live || s.pending.Work() != nil {
		return due, pause
	}
	for _, of := range parts {
		if p := of(s); p != nil {
			due.of(p.Next())
		}
	}
	for _, of := range pauses {
		pause.of(of(s))
	}
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
