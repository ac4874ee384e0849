package queue

import (
	"slices"

	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// delete deletes the queue for a client unless if-empty or if-unused is not met (DEC-6). Overdue messages expire
// first.
func (s *state) delete(m *mail.DeleteQueue, now clock.Instant) {
	s.pending.Start(&deliveries.LongCommand{
		Asked: m,
		Step:  func(clock.Instant) bool { return !s.messages.ExpireAll(now) },
		End: func(now clock.Instant) {
			if f := s.figures(); mayDelete(&s.host, m, int(f.values[queuestats.Ready])+f.waiting) {
				s.farewell.close(m, now)
			}
		},
	}, now)
}

// mayDelete reports whether a command may delete the queue, which has that many messages. Otherwise the command is
// answered.
func mayDelete(s *host, m *mail.DeleteQueue, messages int) bool {
	err := mail.Locked(s.queue, m.Connection, s.vhost.Name)
	switch {
	case err != nil:
	case m.IfEmpty && messages > 0:
		err = refuseDelete(s.queue, s.vhost, "not empty")
	case m.IfUnused && s.consumers.Len() > 0:
		err = refuseDelete(s.queue, s.vhost, "in use")
	}
	if err != nil {
		s.out.Send(m.ReplyTo, &mail.DeleteQueueReply{Reply: m.Done(err)})
		s.out.Send(s.vhost.PID, &mail.QueueDeleteRefused{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
	}
	return err == nil
}

func refuseDelete(q *topology.Queue, v *topology.VHost, why string) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "queue '%s' in vhost '%s' %s", q.Name, v.Name, why)
}

// park parks a mail until the vhost has answered, and reports whether it did. Mail that belongs to the ending or to the
// queue itself is not parked.
func (s *state) park(received any) bool {
	switch received.(type) {
	case *mail.QueueForgotten, *mail.QueueKept, *mail.QueueEnding, appendDone, loaded:
		return false
	case *mail.DeadLetterReply, *mail.DescribeQueue:
		return false
	case timerFired, again:
		return s.phase != closing // they run anyway if the queue is kept
	}
	s.pending.Park(received)
	return true
}

// unpark returns the next parked mail, if the queue handles mail and no command is in progress. It has to be handled
// before any new mail.
func (s *state) unpark() (any, bool) {
	if s.full || s.phase != live && s.phase != ending {
		return nil, false
	}
	return s.pending.Next()
}

// kept makes the queue live again: it was declared while it waited for the vhost's answer. Mail that arrived during the
// wait is handled next; of the vhost's commands, the declare comes first. If a DeleteQueue caused the ending, the vhost
// panicked while handling it, or could not store the deletion, and the command fails.
func (s *state) kept(now clock.Instant) {
	if s.phase != retiring {
		return
	}
	if c := s.farewell.command; c != nil {
		to, reply := c.Answer(mail.Failed)
		s.out.Send(to, reply)
		s.out.Send(s.vhost.PID, &mail.QueueDeleteRefused{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
	}
	s.dueNow = true // messages may have become due while it waited
	if s.farewell.begun {
		s.farewell.goOn(now)
		return
	}
	s.phase.becomeLive()
	s.messages.SetEnd(false, false)
	if s.farewell.cause == leaseRanOut {
		s.lease.Renew(now.Ceil(), expiry.LeaseDeclared)
	}
	s.farewell = farewell{host: &s.host}
}

// fail ends the queue after a panic. cause is the mail that it was handling, nil for none. Consumers are cancelled, and
// publishers that wait for the journal are told that their messages are not stored.
func (s *state) fail(cause any) {
	s.out.Posts = slices.DeleteFunc(s.out.Posts, func(p mail.Post) bool { return !outlives(p.Mail, cause) })
	s.consumers.Discard()
	s.consumers.CancelAll()
	s.messages.Journal.Fail()
	if c := s.farewell.command; c != nil {
		to, reply := c.Answer(mail.Failed)
		s.out.Send(to, reply)
	}
}

// outlives reports whether mail to be sent by the failed turn is still valid. Replies to the mail that caused the panic
// are not.
func outlives(sent, cause any) bool {
	switch m := sent.(type) {
	case *mail.DeadLetter, *mail.QueueExpired, *mail.QosUnused:
		return true
	case *mail.EnqueueReply:
		_, own := cause.(*mail.Enqueue)
		return !own
	case *mail.Deliver:
		m.Release()
	}
	return false
}
