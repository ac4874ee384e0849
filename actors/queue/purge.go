package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

// purge drops every ready message (DL-9: not dead-lettered), and those that are
// scheduled (DLY-12). What has come due before it expires. If nobody holds a
// message, all of it is one step and one record, however many there are.
func (s *state) purge(m *mail.Purge, now clock.Instant) {
	reply := &mail.PurgeReply{Reply: m.Done(nil)}
	if reply.Err = s.access(m.Connection); reply.Err != nil {
		s.send(m.ReplyTo, reply)
		return
	}
	s.renewedBy(policies.RenewedByUpdate, now)
	scheduled, due, at := s.scheduled.Len(), now, backlog.Handle(1)
	s.pending.Start(&work.Work{
		Asked: m,
		Step: func(clock.Instant) bool {
			if reply.MessageCount == 0 && s.expireDue(due) {
				return false
			}
			if s.messages.Len() == s.messages.Ready() {
				reply.MessageCount += s.messages.Ready()
				s.dropAll()
				return true
			}
			n := s.drop()
			reply.MessageCount += n
			return n < int(s.turnMost) && s.dropScheduled(&at)
		},
		End: func(clock.Instant) {
			reply.MessageCount += scheduled
			s.out.notices.Purged(scheduled)
			s.send(m.ReplyTo, reply)
		},
	}, now)
}

// dropAll empties the queue, in which nothing but ready and scheduled messages is.
func (s *state) dropAll() {
	s.journal.RemoveAll(s.seq, store.Purged)
	s.messages.Clear()
	s.expiry.Clear()
	s.dropAllScheduled()
	s.pager.Clear()
}

// dropAllScheduled forgets the scheduled messages.
func (s *state) dropAllScheduled() {
	if s.scheduled != nil {
		s.scheduled.Messages.Clear()
		s.scheduled = nil
	}
}

// drop removes a turn's worth of ready messages and counts them. They go in the order
// of their numbers, so that their records join.
func (s *state) drop() int {
	for n := range int(s.turnMost) {
		h, ok := s.messages.Oldest()
		if !ok {
			return n
		}
		s.expiry.Remove(h)
		s.Remove(h, store.Purged)
	}
	return int(s.turnMost)
}

// dropScheduled drops the scheduled messages: from at on the journal is told of a
// turn's worth of them, and when it knows them all they are gone.
func (s *state) dropScheduled(at *backlog.Handle) (done bool) {
	x := s.scheduled
	if x == nil {
		return true
	}
	*at = x.Messages.Sweep(*at, int(s.turnMost), func(h backlog.Handle) {
		s.journal.Remove(x.Messages.Entry(h), store.Purged)
	})
	if *at == 0 {
		s.dropAllScheduled()
	}
	return *at == 0
}
