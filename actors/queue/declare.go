package queue

import (
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// declare answers a queue.declare of an existing queue, including the one that created it. Any declare that waits for
// its answer and is not refused renews the lease, passive or not (LEASE-4).
func (s *state) declare(m *mail.DeclareQueue, now clock.Instant) {
	reply := &mail.DeclareQueueReply{Reply: m.Done(nil), Name: s.queue.Name}
	if m.Passive && !m.NoWait {
		s.lease.Renew(now.Ceil(), expiry.LeaseDeclared) // even if the declare is refused (LEASE-5)
	}
	if reply.Err = equivalent(s.queue, s.vhost, m); reply.Err == nil {
		if !m.NoWait {
			s.lease.Renew(now.Ceil(), expiry.LeaseDeclared)
		}
		s.messages.ExpireDue(now)
		reply.MessageCount, reply.ConsumerCount = int(s.figures().values[queuestats.Ready]), s.consumers.Len()
	}
	s.out.Send(m.ReplyTo, reply)
}

// equivalent checks the arguments of a declare against the existing queue, in the order of DEC-1.
func equivalent(q *topology.Queue, v *topology.VHost, m *mail.DeclareQueue) error {
	if err := mail.Locked(q, m.Connection, v.Name); err != nil || m.Passive {
		return err
	}
	current := policies.QueueDeclaration{Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Arguments: q.Arguments}
	received := policies.QueueDeclaration{
		Durable: m.Durable, AutoDelete: m.AutoDelete, Exclusive: m.Exclusive,
		Arguments: policies.WithQueueType(m.Arguments, m.Durable, m.Exclusive, m.AutoDelete, ""),
	}
	if err := policies.Equivalent(q.Name, v.Name, current, received); err != nil {
		return err
	}
	return nil
}
