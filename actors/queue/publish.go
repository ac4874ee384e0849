package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// enqueue takes a batch in, in order. Confirms of messages that are written to
// the journal follow when it has them; all others are answered now.
func (s *state) enqueue(e *mail.Enqueue, now clock.Instant) {
	var taken, stored, refused *mail.EnqueueReply
	s.renewedBy(policies.RenewedByPublish, now)
	s.expireDue(now)
	s.counts.Publish += uint64(len(e.Messages))
	later := s.holdsDelayed || s.settings.DelayedMessages
	for i := range e.Messages {
		m := &e.Messages[i]
		var due topology.Due
		var id uint32
		if later {
			due, id = s.dueOf(m, now)
		}
		switch {
		case s.broken != nil && s.durable(m.Persistent):
			s.noteReply(&refused, m.Number)
		case due.At > now.Floor():
			if s.addScheduled(m, due, id, now) {
				s.noteReply(&stored, m.Number)
			} else {
				s.noteReply(&taken, m.Number)
			}
		case s.refuses(m):
			if s.overflowed(m, now) && e.From.Equal(s.vhost.DeadLetter) {
				s.noteReply(&taken, m.Number) // dead-lettered further, so not to be sent again (DL-29)
				continue
			}
			s.noteReply(&refused, m.Number)
		case s.accept(m, e.Chunk, now):
			s.noteReply(&stored, m.Number)
		default:
			s.noteReply(&taken, m.Number)
		}
	}
	s.out.done = append(s.out.done, e)
	if taken != nil {
		s.send(e.From, taken)
	}
	if refused != nil {
		refused.Refused = true
		s.send(e.From, refused)
	}
	if c := s.out.commit; c != nil {
		c.to, c.reply = e.From, stored
		c.chunk, c.debt = e.LendCredit()
	}
}

// noteReply adds a publish number to a reply that is made when it has a first one.
func (s *state) noteReply(reply **mail.EnqueueReply, number uint64) {
	if number == 0 {
		return
	}
	if *reply == nil {
		*reply = &mail.EnqueueReply{Queue: s.self}
	}
	(*reply).Add(number)
}

// accept gives a message to a consumer that can take it now, if nothing is
// ahead of it, or keeps it. It reports whether the message was written down.
func (s *state) accept(m *message.Message, chunk *message.Chunk, now clock.Instant) (stored bool) {
	over := s.settings.ExpiresAtHeader != "" && s.applyExpiresAt(m, now) // not even now
	deadline := s.deadlineOf(m, now)
	late := over || deadline <= now.Floor() // TTL 0: now or never (TTL-20)
	switch c := s.consumers.Next(); {
	case s.settings.HasForward && !over && s.canForward(m):
		s.forward(s.keep(m, deadline, now), late)
		return s.durable(m.Persistent)
	case over || s.messages.Ready() > 0 || c == nil:
		if late && !s.shouldDeadLetter(expired) {
			s.out.dropped[expired]++
			return false
		}
	case c.NoAck:
		s.deliverDirect(c, m, chunk, deadline, now)
		return false
	default:
		s.deliver(c, s.keep(m, deadline, now), now)
		return s.durable(m.Persistent)
	}
	if h := s.keep(m, deadline, now); late {
		s.endReady(h, expired)
	} else {
		s.schedule(h)
		if s.crowded() && !s.durable(m.Persistent) {
			s.spill(&s.messages, h)
		}
	}
	return s.durable(m.Persistent)
}

// durable reports whether a message is written down. What happens to those of a
// queue that nobody knows any more is not.
func (s *state) durable(persistent bool) bool {
	return persistent && s.queue.Durable && s.phase < draining
}

// keep copies the message into the backlog, ready, and writes it down if it is
// to survive.
func (s *state) keep(m *message.Message, deadline int64, now clock.Instant) backlog.Handle {
	s.seq++
	r := backlog.Record{
		Exchange: m.Exchange, RoutingKey: m.RoutingKey, Header: m.Header, Body: m.Body, Overlay: m.Overlay,
		Deadline: deadline, TTL: m.TTL, Enqueued: now.Ceil(), Priority: min(m.Priority, s.settings.MaxPriority),
		Persistent: m.Persistent, Seq: s.seq, Shared: m.Owned, Share: m.Share,
	}
	h := s.messages.Push(&r)
	if s.durable(m.Persistent) {
		r = s.messages.Get(h)
		s.write(store.Put, &s.messages, h, &r)
	}
	return h
}

// remove forgets a message for good. What is written in this turn only, is not
// written.
func (s *state) remove(h backlog.Handle, why store.Reason) {
	if e := s.messages.Entry(h); e.Marks&backlog.Stored != 0 && s.phase < draining && !s.unwrite(e.Seq) {
		s.mark(store.Remove, e.Seq, why)
	}
	s.messages.Remove(h)
}
