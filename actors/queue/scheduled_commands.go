package queue

import (
	"candlemark/actors/queue/schedule"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// handleScheduled handles mail about scheduled messages (DLY-11), and other rare mail.
func (s *state) handleScheduled(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.ListScheduled:
		s.answerWith(m, s.view().ListScheduled(m))
	case *mail.CancelScheduled:
		s.changeScheduled(m, m.Request, &schedule.Change{All: m.Seqs}, m.Seq, m.MessageID, now)
	case *mail.Reschedule:
		s.reschedule(m, now)
	case *mail.PrepareWork:
		s.deliveries.Prepare(m, now)
	case *mail.ReleaseWork:
		s.deliveries.Unprepare(m, now)
	case lookedUp:
		m.lookup.found(m.contents, now)
	}
}

// lookup reads contents for a query or command only; they are not kept in memory.
type lookup struct {
	asked mail.Answerable
	want  []store.Ref
	found func(contents []store.Content, now clock.Instant)
}

// LookUp implements deliveries.Owner.
func (s *state) LookUp(asked mail.Answerable, want []store.Ref, found func([]store.Content, clock.Instant)) {
	s.out.lookups = append(s.out.lookups, &lookup{asked: asked, want: want, found: found})
}

// lookedUp: the contents of a lookup were read, in the order of want.
type lookedUp struct {
	lookup   *lookup
	contents []store.Content
}

// Answer implements mail.Answerable for the mail that caused the lookup, if any.
func (l lookedUp) Answer(f mail.Cause) (mail.Address, any) {
	if l.lookup.asked == nil {
		return nil, nil
	}
	return l.lookup.asked.Answer(f)
}

// reschedule gives messages a new due time, which is in wall-clock time.
func (s *state) reschedule(m *mail.Reschedule, now clock.Instant) {
	due := s.Dates.Deadline(m.Due)
	if m.Due < 1 || due-now.Ceil() > timeheaders.MaxDelay {
		s.out.Send(m.ReplyTo, &mail.ChangeScheduledReply{Reply: m.Done(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"invalid due time %d: expected milliseconds since 1970, at most 10 years from now", m.Due))})
		return
	}
	due = max(due, now.Floor())
	if x := s.Scheduled; x != nil {
		due = max(due, x.Overdue+1)
	}
	s.changeScheduled(m, m.Request, &schedule.Change{Due: due}, m.Seq, m.MessageID, now)
}

// changeScheduled reschedules or cancels the messages that a command names.
func (s *state) changeScheduled(asked mail.Answerable, request mail.Request, c *schedule.Change, seq uint64, id string, now clock.Instant) {
	s.renewedBy(policies.RenewedByUpdate, leaseUpdated, now)
	want, found := s.Scheduled.Change(c, &s.Journal, seq, id)
	if len(want) == 0 {
		s.answerScheduled(request, c)
		return
	}
	s.out.lookups = append(s.out.lookups, &lookup{asked: asked, want: want, found: func(contents []store.Content, _ clock.Instant) {
		found(contents)
		s.answerScheduled(request, c)
	}})
}

// answerScheduled answers a command; if it changed durable messages, only once the change is durable.
func (s *state) answerScheduled(request mail.Request, c *schedule.Change) {
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
		s.Journal.Await(answer)
	} else {
		answer(false)
	}
	s.dueNow = true
}
