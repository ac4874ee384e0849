package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// endCause is the cause of a queue's end.
type endCause uint8

const (
	leaseRanOut endCause = iota
	autoDeleted
	deletedByCommand
)

// deleteReason is the reason why a retiring queue ends (ADR 4).
type deleteReason struct {
	cause   endCause
	command *mail.DeleteQueue // if cause is deletedByCommand
}

// delete deletes the queue for a client unless if-empty or if-unused is not met (DEC-6). Overdue messages expire
// first.
func (s *state) delete(m *mail.DeleteQueue, now clock.Instant) {
	s.pending.Start(&work.Work{
		Asked: m,
		Step:  func(clock.Instant) bool { return !s.ExpireDue(now) && !s.AdvanceDeferred(now) },
		End:   func(clock.Instant) { s.deleteNow(m) },
	}, now)
}

func (s *state) deleteNow(m *mail.DeleteQueue) {
	err := access(s.queue, s.vhost, m.Connection)
	switch {
	case err != nil:
	case m.IfEmpty && s.Shown()+s.Scheduled.Len()+s.Deferred.Len() > 0:
		err = refuseDelete(s.queue, s.vhost, "not empty")
	case m.IfUnused && s.consumers.Len() > 0:
		err = refuseDelete(s.queue, s.vhost, "in use")
	}
	if err != nil {
		s.out.Send(m.ReplyTo, &mail.DeleteQueueReply{Reply: m.Done(err)})
		s.out.Send(s.vhost.PID, &mail.QueueDeleteRefused{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
		return
	}
	s.retire(deletedByCommand, m)
}

func refuseDelete(q *topology.Queue, v *topology.VHost, why string) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "queue '%s' in vhost '%s' %s", q.Name, v.Name, why)
}

// retire starts the end of the queue: mail is parked until the vhost has forgotten the queue, or decided to keep it.
func (s *state) retire(why endCause, command *mail.DeleteQueue) {
	if !s.phase.becomeRetiring() {
		return
	}
	s.deletion = deleteReason{why, command}
	s.out.Send(s.vhost.PID, &mail.QueueRetiring{
		Name: s.queue.Name, Incarnation: s.queue.Incarnation, Queue: s.self,
		Handled: s.handled, Deleted: why == deletedByCommand,
	})
}

// park parks a mail until the vhost has answered, and reports whether it did. Mail that belongs to the ending or to the
// queue itself is not parked.
func (s *state) park(received any) bool {
	switch received.(type) {
	case *mail.QueueForgotten, *mail.QueueKept, appendDone, loaded:
		return false
	case timerFired, again:
		return true // runs anyway if the queue is kept
	}
	s.pending.Park(received)
	return true
}

// unpark returns the next parked mail, if the queue is live and no command is in progress. It has to be handled
// before any new mail.
func (s *state) unpark() (any, bool) {
	if s.phase != live {
		return nil, false
	}
	return s.pending.Next()
}

// kept makes the queue live again: it was declared while it waited for the vhost's answer. Mail that arrived meanwhile
// is handled next; of the vhost's commands, the declare comes first. If a DeleteQueue caused the ending, the vhost
// panicked while handling it, and the command fails.
func (s *state) kept(now clock.Instant) {
	if !s.phase.becomeLive() {
		return
	}
	s.dueNow = true // messages may have become due meanwhile
	if s.deletion.cause == leaseRanOut {
		s.lease.Renew(now.Ceil(), lease.Declared)
	}
	if c := s.deletion.command; c != nil {
		to, reply := c.Answer(mail.Failed)
		s.out.Send(to, reply)
		s.out.Send(s.vhost.PID, &mail.QueueDeleteRefused{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
	}
	s.deletion = deleteReason{}
}

// forgotten continues the ending after the vhost has removed the name and the bindings. Consumers are cancelled
// (LEASE-9), outstanding confirms are sent (LEASE-8), and all messages are discarded (LEASE-7) except dead letters,
// which are sent first.
func (s *state) forgotten(now clock.Instant) {
	if !s.phase.becomeDraining() {
		return
	}
	ready := s.Backlog.Ready() + s.Scheduled.Len() + s.Deferred.Len()
	s.Drain(s.deadLettersBacklog())
	s.consumers.CancelAll()
	if !s.deadLettersBacklog() {
		s.Notices.Purged(s.Scheduled.Len())
		s.ClearScheduled()
	}
	if s.deletion.command != nil {
		s.out.Send(s.deletion.command.ReplyTo, &mail.DeleteQueueReply{
			Reply: s.deletion.command.Done(nil), Queue: s.queue.Name, MessageCount: ready,
		})
	}
	if s.deletion.cause == leaseRanOut {
		discarded := ready + s.consumers.Unacked()
		if s.deadLettersBacklog() {
			discarded = s.consumers.Unacked()
		}
		s.out.Send(s.vhost.DeadLetter, &mail.QueueExpired{
			Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Discarded: discarded, Time: (s.Journal.At + s.Skew) / 1000,
		})
	}
	for _, g := range s.gets {
		s.handleLate(g, now)
	}
	for _, m := range s.receivers.Abandon() {
		s.handleLate(m, now)
	}
	for _, m := range s.pending.All() {
		s.handleLate(m, now)
	}
	s.gets = nil
}

// fail ends the queue after a panic. cause is the mail that it was handling, nil for none. Consumers are cancelled, and
// publishers that wait for the journal are told that their messages are not stored.
func (s *state) fail(cause any) {
	s.out.Posts = slices.DeleteFunc(s.out.Posts, func(p mail.Post) bool { return !outlives(p.Mail, cause) })
	s.consumers.Discard()
	s.consumers.CancelAll()
	s.Journal.Fail()
	if s.deletion.command != nil {
		to, reply := s.deletion.command.Answer(mail.Failed)
		s.out.Send(to, reply)
	}
}

// outlives reports whether mail to be sent by the failed turn is still valid. Replies to the mail that caused the panic
// are not.
func outlives(sent, cause any) bool {
	switch m := sent.(type) {
	case *mail.DeadLetter, *mail.QueueExpired, *mail.Unused:
		return true
	case *mail.EnqueueReply:
		_, own := cause.(*mail.Enqueue)
		return !own
	case *mail.Deliver:
		m.Release()
	}
	return false
}
