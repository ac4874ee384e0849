package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// changeLimit is how many messages with one message-id a command changes: a turn's
// worth.
const changeLimit = 10_000

// handleScheduled is the mail about scheduled messages (DLY-11).
func (s *state) handleScheduled(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.ListScheduled:
		s.answerWith(m, s.view().ListScheduled(m))
	case *mail.CancelScheduled:
		s.changeScheduled(&scheduledCommand{asked: m, request: m.Request}, m.Seq, m.MessageID, now)
	case *mail.Reschedule:
		s.reschedule(m, now)
	case lookedUp:
		m.lookup.found(m.contents, now)
	}
}

// scheduledCommand is a command about scheduled messages.
type scheduledCommand struct {
	asked   mail.Answerable
	request mail.Request
	due     int64 // the new time, 0: cancelled
	count   int
	stored  bool // one of them is
}

// lookup are contents that are read for an answer alone: they do not come back into
// memory.
type lookup struct {
	asked mail.Answerable
	want  []store.Ref
	found func(contents []store.Content, now clock.Instant)
}

// lookedUp: the contents of a lookup were read, in the order of want.
type lookedUp struct {
	lookup   *lookup
	contents []store.Content
}

// Answer implements mail.Answerable, for who has asked, if somebody has.
func (l lookedUp) Answer(f mail.Fate) (*actor.PID, any) {
	if l.lookup.asked == nil {
		return nil, nil
	}
	return l.lookup.asked.Answer(f)
}

// reschedule gives messages another time: a date, so it is by the wall clock.
func (s *state) reschedule(m *mail.Reschedule, now clock.Instant) {
	a := &scheduledCommand{asked: m, request: m.Request, due: m.Due - s.skew}
	if m.Due < 1 || a.due-now.Ceil() > topology.MaxDelay {
		s.send(m.ReplyTo, &mail.ScheduledChanged{Reply: m.Done(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"a message cannot be due at %d: milliseconds since 1970 within the next 10 years are expected", m.Due))})
		return
	}
	a.due = max(a.due, now.Floor())
	if x := s.scheduled; x != nil {
		a.due = max(a.due, x.Overdue+1)
	}
	s.changeScheduled(a, m.Seq, m.MessageID, now)
}

// changeScheduled finds the messages of a command: that with a number, or, with number 0,
// those with a message-id. Of those whose contents are not in memory only the hash is
// known: they are looked up.
func (s *state) changeScheduled(a *scheduledCommand, seq uint64, id string, now clock.Instant) {
	s.renewedBy(policies.RenewedByUpdate, now)
	x := s.scheduled
	l := &lookup{asked: a.asked}
	var paged []backlog.Handle
	switch {
	case x == nil:
	case seq != 0:
		if h, ok := x.Messages.Find(seq); ok {
			s.changeOneScheduled(a, h)
		}
	default:
		for _, h := range x.WithHash(store.HashID(id), changeLimit) {
			if x.Messages.IsPaged(h) {
				paged = append(paged, h)
				l.want = append(l.want, x.Ref(h))
			} else if r := x.Messages.Get(h); content.MessageID(r.Header) == id {
				s.changeOneScheduled(a, h)
			}
		}
	}
	if len(paged) == 0 {
		s.answerScheduled(a)
		return
	}
	l.found = func(contents []store.Content, now clock.Instant) {
		for i := range contents {
			c := &contents[i]
			if x := s.scheduled; c.Err == nil && x != nil && x.Messages.Has(paged[i], c.Seq) && content.MessageID(c.Record.Header) == id {
				s.changeOneScheduled(a, paged[i])
			}
		}
		s.answerScheduled(a)
	}
	s.out.lookups = append(s.out.lookups, l)
}

// changeOneScheduled does to a message what the command says.
func (s *state) changeOneScheduled(a *scheduledCommand, h backlog.Handle) {
	x := s.scheduled
	e := x.Messages.Entry(h)
	stored := e.Marks&backlog.Stored != 0
	a.count++
	a.stored = a.stored || stored
	if a.due == 0 {
		s.unschedule(h, store.Cancelled)
		return
	}
	x.Reschedule(h, a.due)
	s.journal.Reschedule(e, a.due)
}

// answerScheduled answers a command: when it is durable, if it was about what is.
func (s *state) answerScheduled(a *scheduledCommand) {
	answer := func(failed bool) {
		reply := &mail.ScheduledChanged{Reply: a.request.Done(nil), Count: a.count}
		if failed {
			reply.Err = protocol.ConnectionErrorf(protocol.InternalError,
				"the journal failed: it is not known whether %d scheduled messages of queue '%s' in vhost '%s' were changed",
				a.count, s.queue.Name, s.vhost.Name)
		}
		s.send(a.request.ReplyTo, reply)
	}
	if a.stored {
		s.journal.Await(answer)
	} else {
		answer(false)
	}
	s.dueNow = true
}
