package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/policies"
)

// enqueue takes a batch in, in order. Confirms of messages that are written to
// the journal follow when it has them; all others are answered now.
func (s *state) enqueue(e *mail.Enqueue, now clock.Instant) {
	var taken, stored, refused *mail.EnqueueReply
	s.renewedBy(policies.RenewedByPublish, now)
	s.expireDue(now)
	s.counts.Publish += uint64(len(e.Messages))
	reader := s.reader()
	looks := reader.Looks()
	for i := range e.Messages {
		m := &e.Messages[i]
		var times content.Times
		if looks {
			times = reader.Times(m, now)
		}
		switch {
		case s.journal.Err() != nil && s.journal.Keeps(m.Persistent):
			s.noteReply(&refused, m.Number)
		case times.Due.At > now.Floor():
			if s.addScheduled(m, times, now) {
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
		case s.accept(m, times, e.Chunk, now):
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
	s.journal.Confirm(e, stored)
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
func (s *state) accept(m *message.Message, times content.Times, chunk *message.Chunk, now clock.Instant) (stored bool) {
	over := false
	if times.Dated {
		left := times.Expires - now.Ceil()
		m.Cap(max(left, 0))
		over = left <= 0 // not even now
	}
	deadline := s.expiry.Deadline(m.TTL, now)
	late := over || deadline <= now.Floor() // TTL 0: now or never (TTL-20)
	switch c := s.consumers.Next(); {
	case s.settings.HasForward && !over && s.canForward(m):
		s.forward(s.keep(m, deadline, now), late)
		return s.journal.Keeps(m.Persistent)
	case over || s.messages.Ready() > 0 || c == nil:
		if late && !s.shouldDeadLetter(expired) {
			s.out.notices.Dropped(expired)
			return false
		}
	case c.NoAck:
		s.deliverDirect(c, m, chunk, deadline, now)
		return false
	default:
		s.deliver(c, s.keep(m, deadline, now), now)
		return s.journal.Keeps(m.Persistent)
	}
	if h := s.keep(m, deadline, now); late {
		s.endReady(h, expired)
	} else {
		s.expiry.Add(h)
		if s.overLimit && s.pager.Crowded(s.memory()) && !s.journal.Keeps(m.Persistent) {
			s.journal.Spill(&s.messages, h, false)
		}
	}
	return s.journal.Keeps(m.Persistent)
}

// keep copies the message into the backlog, ready, and writes it down if it is
// to survive.
func (s *state) keep(m *message.Message, deadline int64, now clock.Instant) backlog.Handle {
	s.seq++
	r := content.Kept(m, s.seq, deadline, now.Ceil(), s.settings.MaxPriority)
	h := s.messages.Push(&r)
	if s.journal.Keeps(m.Persistent) {
		s.journal.Put(&s.messages, h)
	}
	return h
}
