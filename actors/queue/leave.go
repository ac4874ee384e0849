package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// bequeaths reports whether the messages of an expired queue are dead-lettered
// instead of discarded (LEASE-13).
func (s *state) bequeaths() bool {
	return s.why.cause == leaseRanOut && s.settings.ExpiresDeadLettersBacklog && s.settings.HasDLX
}

// late takes mail that a forgotten queue still gets. Publishes count as routed
// (PRO-2): they are discarded, or follow the backlog.
func (s *state) late(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.DeadLetterReply:
		s.buried(m, now)
	case appendDone:
		s.committed(m)
	case loaded:
		s.comeBack(m, now)
	case *mail.Enqueue:
		if s.bequeaths() {
			s.bequeath(m, now)
			break
		}
		s.answer(m)
	case mail.Answerable:
		s.answer(m)
	}
	if s.phase == leaving {
		s.leave(now)
	}
}

func (s *state) answer(m mail.Answerable) {
	if to, reply := m.Answer(mail.Gone); to != nil {
		s.send(to, reply)
	}
}

// bequeath dead-letters a batch that came too late.
func (s *state) bequeath(e *mail.Enqueue, now clock.Instant) {
	for i := range e.Messages {
		m := &e.Messages[i]
		s.die(s.keep(m, s.deadlineOf(m, now), now), expired)
	}
	s.answer(e)
	s.bury(now)
}

// leave ends the queue when nothing is dying any more. A backlog that is to be
// dead-lettered dies a turn's worth at a time.
func (s *state) leave(now clock.Instant) {
	if s.bequeaths() {
		for range turnLimit {
			h, ok := s.messages.First()
			if !ok {
				if h, ok = s.nextScheduled(); !ok {
					break
				}
				h = s.move(h)
			}
			s.wheel.Remove(h)
			s.die(h, expired)
		}
		s.out.again = s.messages.Ready() > 0 || s.scheduledPending()
	}
	s.dying.retries.goesAgain(now) // for the last time
	s.retry(now)
	s.bury(now)
	if s.dying.all.Len() > 0 || s.out.again {
		return
	}
	s.phase = ended
	if s.queue.Durable || s.paging.spilled {
		s.out.marks = append(s.out.marks, store.Record{Kind: store.Retire, Time: s.at})
	}
}
