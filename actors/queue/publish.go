package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/ruleaction"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// enqueue takes a batch in order. Messages for the journal are confirmed when the journal has them, all others at once.
func (s *state) enqueue(e *mail.Enqueue, now clock.Instant) {
	var taken, stored, refused, unfit *mail.EnqueueReply
	if refuses(s, e, now) {
		return
	}
	reader := s.Reader()
	looks, scanned := reader.Looks(), content.Scanned{}
	for i := range e.Messages {
		m := &e.Messages[i]
		var times content.Times
		scanned.Next()
		before, id := begun(s, e, i), uint64(0)
		if s.Settings.DuplicateWindow > 0 && !e.Moved {
			var is, written bool
			if id, is, written = messages.Duplicate(&s.Messages, m, &scanned, e.Action, now); is {
				noteDuplicate(s, &taken, &stored, e, m.Number, written)
				continue
			}
		}
		made := e.Action == nil || ruleaction.Apply(e.Action, m)
		if !made && !messages.TakesFailed(&s.Settings, e.Action) || s.Sessions != nil && !sessions.Names(scanned.Of(m.Header)) {
			noteReply(&unfit, s, e, m.Number, before)
			continue
		}
		if looks && made {
			times = reader.Times(m, scanned.Of(m.Header), now)
		}
		reply := &taken
		switch {
		case s.Journal.Err() != nil && s.Journal.Stores(m):
			reply, id = &refused, 0
		case !made:
			if _, written := s.Unwanted(m, store.Failed, now); written {
				reply = &stored
			}
		case times.Due.At > now.Floor():
			if s.KeepScheduled(m, times, now) {
				reply = &stored
			}
		case !e.Prepared && s.Refuses(1, int64(len(m.Body))):
			id = 0
			dead, _ := s.Unwanted(m, store.Overflowed, now)
			if !dead || !mail.Same(e.From, s.vhost.DeadLetter) { // else it dies here again, so its sender must not retry (DL-29)
				reply = &refused
			}
		case s.accept(m, times, e.Chunk, now) || id != 0 && s.Journal.Stores(m): // its id was written
			reply = &stored
		}
		noteReply(reply, s, e, m.Number, before)
		if id != 0 {
			messages.Remember(&s.Messages, id, m, now)
		}
	}
	holdCredit(s, e, now)
	s.out.done = append(s.out.done, e)
	replyToSender(s, e, taken, false, nil)
	replyToSender(s, e, refused, true, nil)
	replyToSender(s, e, unfit, true, messages.Unfit(e.Action))
	s.Journal.Confirm(e, stored)
}

// begun notes of which stored message the next one is a copy, and returns the last number of the queue before it.
func begun(s *state, e *mail.Enqueue, i int) uint64 {
	if e.Origins != nil {
		s.Journal.Origin = store.Origin{Queue: store.QueueID(e.Origin), Seq: e.Origins[i]}
	}
	return s.Seq
}

// refuses prepares the queue for a batch. If the batch is to be taken all or none and one message cannot be taken, it
// refuses the batch and returns true.
func refuses(s *state, e *mail.Enqueue, now clock.Instant) bool {
	s.renewedBy(policies.RenewedByPublish, leasePublished, now)
	s.ExpireDue(now)
	s.Counts.Publish += uint64(len(e.Messages))
	if !e.AllOrNone {
		return false
	}
	refused, why := messages.RefusesAll(&s.Messages, e.Messages, e.Action, now)
	if refused {
		refuseAll(s, e, why)
	}
	return refused
}

// refuseAll refuses all messages of a batch for the reason why, which may be nil.
func refuseAll(s *state, e *mail.Enqueue, why error) {
	var refused *mail.EnqueueReply
	for i := range e.Messages {
		noteReply(&refused, s, e, e.Messages[i].Number, s.Seq)
	}
	s.out.done = append(s.out.done, e)
	replyToSender(s, e, refused, true, why)
}

// replyToSender sends reply, unless nil, to the sender of e: the messages were taken, or refused for the reason why.
func replyToSender(s *state, e *mail.Enqueue, reply *mail.EnqueueReply, refused bool, why error) {
	if reply == nil {
		return
	}
	if reply.Refused, reply.Why = refused, why; refused {
		reply.Seqs = nil
	}
	s.out.Send(e.From, reply)
}

// noteDuplicate counts a message that was accepted before as taken. If the original is being written to the journal,
// the confirm waits until the journal has it.
func noteDuplicate(s *state, taken, stored **mail.EnqueueReply, e *mail.Enqueue, number uint64, written bool) {
	s.Counts.Duplicates++
	if !written {
		noteReply(taken, s, e, number, s.Seq)
		return
	}
	noteReply(stored, s, e, number, s.Seq)
	s.Journal.Await(func(bool) {}) // commits end in order
}

// holdCredit withholds credit from a sender that is faster than the consumers.
func holdCredit(s *state, e *mail.Enqueue, now clock.Instant) {
	if s.Backlog.Ready() == 0 || s.consumers.Len() == 0 {
		return
	}
	if s.flow == nil {
		s.flow = &FlowControl{}
	}
	s.flow.Hold(e, s.Counts.Deliver+s.Counts.DeliverNoAck, (now + s.Pager.Apart).Floor())
}

// releaseCredit returns withheld credit that is due.
func releaseCredit(s *state, now clock.Instant) {
	all := s.phase != live || s.Backlog.Ready() == 0 || s.consumers.Len() == 0
	s.flow.Release(all, s.Counts.Deliver+s.Counts.DeliverNoAck, (now + s.Pager.Apart).Floor())
}

// noteReply adds a publish number to *reply, and creates the reply for the first one. before is the sequence number of
// the newest message before this one.
func noteReply(reply **mail.EnqueueReply, s *state, e *mail.Enqueue, number, before uint64) {
	if number == 0 {
		return
	}
	if *reply == nil {
		*reply = &mail.EnqueueReply{Queue: s.self}
	}
	(*reply).Add(number)
	if e.Numbered {
		if s.Seq == before {
			before = 0
		} else {
			before = s.Seq
		}
		(*reply).Seqs = append((*reply).Seqs, before)
	}
}

// accept delivers a message to a consumer that can take it now, unless other messages are ahead of it, or adds it to
// the backlog. It reports whether the message was written to the journal.
func (s *state) accept(m *message.Message, times content.Times, chunk *message.Chunk, now clock.Instant) (stored bool) {
	over := false
	if times.Dated {
		left := times.Expires - now.Ceil()
		m.Cap(max(left, 0))
		over = left <= 0 // not even an immediate delivery is possible
	}
	deadline := s.Expiry.Deadline(m.TTL, now)
	late := over || deadline <= now.Floor() // TTL 0: deliver at once or expire (TTL-20)
	var c *consumers.Consumer
	if s.Sessions == nil { // otherwise the holder of its session gets it at the end of the turn
		c = s.consumers.NextFor(mail.ChargeOf(m.Size()))
	}
	switch {
	case s.Settings.HasForward && !over && s.phase == live && s.CanForward(m):
		h := s.Keep(m, deadline, now)
		stored = s.Backlog.Entry(h).Stored
		s.Forward(h, late)
		return stored
	case over || s.Backlog.Ready() > 0 || c == nil:
		if late && !s.ShouldDeadLetter(store.Expired) {
			s.Notices.Dropped(store.Expired)
			return false
		}
	case c.NoAck:
		s.deliverDirect(c, m, chunk, deadline, now)
		return false
	default:
		h := s.Keep(m, deadline, now)
		stored = s.Backlog.Entry(h).Stored
		s.deliver(c, h, now)
		return stored
	}
	h := s.Keep(m, deadline, now)
	stored = s.Backlog.Entry(h).Stored
	if late {
		s.EndReady(h, store.Expired)
	} else {
		s.Wait(h)
	}
	return stored
}
