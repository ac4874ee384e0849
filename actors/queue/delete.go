package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/outbox"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// endCause is why a queue ends.
type endCause uint8

const (
	leaseRanOut endCause = iota
	autoDeleted
	deletedByCommand
)

// deleteReason says why a retiring queue ends (ADR 4).
type deleteReason struct {
	cause   endCause
	command *mail.DeleteQueue // of deletedByCommand
}

// delete ends the queue for a client unless its conditions fail (DEC-6). What has come due before it expires.
func (s *state) delete(m *mail.DeleteQueue, now clock.Instant) {
	s.pending.Start(&work.Work{
		Asked: m,
		Step:  func(clock.Instant) bool { return !s.ExpireDue(now) && !s.ExpireDeferred(now) },
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

// retire opens the farewell: from now on mail is parked until the vhost has
// forgotten the queue, or kept it.
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

// park keeps mail for after the vhost's answer; what belongs to the farewell or
// to the queue itself is handled at once.
func (s *state) park(what any) bool {
	switch what.(type) {
	case *mail.QueueForgotten, *mail.QueueKept, appendDone, loaded:
		return false
	case timerFired, again:
		return true // that follows if the queue is kept
	}
	s.pending.Park(what)
	return true
}

// unpark is the next mail that was parked, if the queue was kept and is at no work.
// It is to be handled next.
func (s *state) unpark() (any, bool) {
	if s.phase != live {
		return nil, false
	}
	return s.pending.Next()
}

// kept: somebody declared the queue while it waited for the vhost; it goes on with what
// arrived meanwhile, the declare first among the vhost's commands. A delete is
// kept only by a vhost that failed over it.
func (s *state) kept(now clock.Instant) {
	if !s.phase.becomeLive() {
		return
	}
	s.dueNow = true // what came due before
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

// forgotten: name and bindings are gone. Consumers are told (LEASE-9), confirms
// that were outstanding are given (LEASE-8), and everything in the queue is
// discarded (LEASE-7), but dead letters are sent first.
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

// fail is the end by a panic over a mail: consumers are told, and publishers learn
// that what they wait for is not stored.
func (s *state) fail(over any) {
	s.out.Posts = slices.DeleteFunc(s.out.Posts, func(p outbox.Post) bool { return !outlives(p.What, over) })
	s.consumers.Discard()
	s.consumers.CancelAll()
	s.Journal.Fail()
	if s.deletion.command != nil {
		to, reply := s.deletion.command.Answer(mail.Failed)
		s.out.Send(to, reply)
	}
}

// outlives reports whether what was to be sent in the turn that failed is still
// true. Answers to the mail in hand are not: it has failed.
func outlives(what, over any) bool {
	switch m := what.(type) {
	case *mail.DeadLetter, *mail.QueueExpired, *mail.Unused:
		return true
	case *mail.EnqueueReply:
		_, own := over.(*mail.Enqueue)
		return !own
	case *mail.Deliver:
		m.Release()
	}
	return false
}
