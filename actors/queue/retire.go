package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/protocol"
)

// cause is why a queue ends.
type cause uint8

const (
	leaseRanOut cause = iota
	autoDeleted
	deletedByCommand
)

// farewell is what a retiring queue remembers of why (STYLE §5).
type farewell struct {
	cause   cause
	command *mail.DeleteQueue // of deletedByCommand
}

// delete ends the queue for a client unless its conditions fail (DEC-6).
func (s *state) delete(m *mail.DeleteQueue) {
	err := s.access(m.Connection)
	switch {
	case err != nil:
	case m.IfUnused && s.consumers > 0:
		err = s.refuseDelete("in use")
	case m.IfEmpty && s.messages.Ready() > 0:
		err = s.refuseDelete("not empty")
	}
	if err != nil {
		s.send(m.ReplyTo, &mail.DeleteQueueReply{Reply: m.Done(err)})
		s.send(s.vhost.PID, &mail.QueueDeleteRefused{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
		return
	}
	s.retire(deletedByCommand, m)
}

func (s *state) refuseDelete(why string) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "queue '%s' in vhost '%s' %s", s.queue.Name, s.vhost.Name, why)
}

// retire opens the farewell: from now on mail is parked until the vhost has
// forgotten the queue, or kept it.
func (s *state) retire(why cause, command *mail.DeleteQueue) {
	if s.phase != live {
		return
	}
	s.phase = retiring
	s.why = farewell{why, command}
	s.send(s.vhost.PID, &mail.QueueRetiring{
		Name: s.queue.Name, Incarnation: s.queue.Incarnation, Queue: s.self,
		Handled: s.handled, Deleted: why == deletedByCommand,
	})
}

// park keeps mail for after the vhost's answer; what belongs to the farewell or
// to the queue itself is handled at once.
func (s *state) park(what any) bool {
	switch what.(type) {
	case *mail.QueueForgotten, *mail.QueueKept, appendDone:
		return false
	case timerFired, again:
		return true // tick follows if the queue is kept
	}
	s.parked = append(s.parked, what)
	return true
}

// kept: somebody declared the queue while it said goodbye; it goes on with what
// arrived meanwhile, the declare first among the vhost's commands.
func (s *state) kept(now clock.Instant) {
	if s.phase != retiring {
		return
	}
	s.phase = live
	if s.why.cause == leaseRanOut {
		s.lease.Renew(now.Ceil())
	}
	parked := s.parked
	s.parked = nil
	for _, m := range parked {
		s.handle(m, now)
	}
	s.tick(now)
}

// forgotten ends the queue: name and bindings are gone. Everything in it is
// discarded (LEASE-7), consumers are told (LEASE-9), confirms that were
// outstanding are given (LEASE-8).
func (s *state) forgotten(now clock.Instant) {
	if s.phase != retiring {
		return
	}
	s.phase = ended
	ready := s.messages.Ready()
	for len(s.commits) > 0 {
		s.committed(nil)
	}
	s.tellConsumers()
	if s.why.command != nil {
		s.send(s.why.command.ReplyTo, &mail.DeleteQueueReply{Reply: s.why.command.Done(nil), MessageCount: ready})
	}
	if s.why.cause == leaseRanOut {
		s.send(s.vhost.DeadLetter, &mail.QueueExpired{
			Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Discarded: ready, Time: now.Floor() / 1000,
		})
	}
	if s.queue.Durable {
		s.out.records = append(s.out.records, store.Record{Kind: store.Retire, Time: now.Floor()})
	}
}

// fail is the end by a panic: consumers are told, and publishers learn that
// what they wait for is not stored.
func (s *state) fail() {
	s.out.posts = nil
	s.tellConsumers()
	for _, c := range s.commits {
		if c.reply != nil {
			c.reply.Refused = true
			s.send(c.to, c.reply)
		}
	}
	s.commits = nil
	if s.why.command != nil {
		to, reply := s.why.command.Answer(mail.Failed)
		s.send(to, reply)
	}
}

func (s *state) tellConsumers() {
	for _, h := range s.holders {
		for _, c := range h.consumers {
			s.send(h.channel, &mail.ConsumerCancelled{Queue: s.self, Tag: c.tag})
		}
	}
}
