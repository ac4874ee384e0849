package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// commit belongs to a batch of records in the journal; reply is what a publisher
// is told when they are durable, nil if nobody waits.
type commit struct {
	to    mail.Address
	reply *mail.EnqueueReply
}

// enqueue takes a batch in, in order. Confirms of messages that are written to
// the journal follow when it has them; all others are answered now.
func (s *state) enqueue(e *mail.Enqueue, now clock.Instant) {
	var taken, stored, refused *mail.EnqueueReply
	s.expireDue(now)
	written := len(s.out.records)
	for i := range e.Messages {
		m := &e.Messages[i]
		if s.refuses() {
			s.overflowed(m, now)
			s.note(&refused, m.Number)
			continue
		}
		s.accept(m, e.Chunk, now)
		if len(s.out.records) > written {
			written = len(s.out.records)
			s.note(&stored, m.Number)
		} else {
			s.note(&taken, m.Number)
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
	s.out.commit = commit{e.From, stored}
	s.enforce(now)
	s.bury(now)
}

// note adds a publish number to a reply that is made when it has a first one.
func (s *state) note(reply **mail.EnqueueReply, number uint64) {
	if number == 0 {
		return
	}
	if *reply == nil {
		*reply = &mail.EnqueueReply{Queue: s.self}
	}
	(*reply).Add(number)
}

// accept gives a message to a consumer that can take it now, if nothing is
// ahead of it, or keeps it.
func (s *state) accept(m *message.Message, chunk *message.Chunk, now clock.Instant) {
	deadline := s.deadlineOf(m, now)
	if s.messages.Ready() == 0 && s.turn != nil {
		c := s.turn
		if c.noAck {
			s.pass(c, m, chunk)
			return
		}
		h := s.keep(m, deadline, now)
		s.hand(c, h)
		return
	}
	h := s.keep(m, deadline, now)
	switch {
	case deadline == store.Never:
	case deadline <= now.Floor(): // TTL 0: now or never (TTL-20)
		s.die(h, expired)
	default:
		s.wheel.Add(h)
	}
}

// deadlineOf is fixed at the instant of enqueue (TTL-9): rounded up, so that it
// is never early, except that a TTL of 0 is due at once.
func (s *state) deadlineOf(m *message.Message, now clock.Instant) int64 {
	ttl := m.TTL
	if q := s.settings.MessageTTL; q >= 0 && (ttl < 0 || q < ttl) {
		ttl = q
	}
	switch {
	case ttl < 0:
		return store.Never
	case ttl == 0:
		return now.Floor()
	case ttl >= store.Never-now.Ceil():
		return store.Never
	}
	return now.Ceil() + ttl
}

// keep copies the message into the backlog, ready, and writes it down if it is
// to survive.
func (s *state) keep(m *message.Message, deadline int64, now clock.Instant) backlog.Handle {
	s.seq++
	h := s.messages.Push(&backlog.Record{
		Exchange: m.Exchange, RoutingKey: m.RoutingKey, Header: m.Header, Body: m.Body, Overlay: m.Overlay,
		Deadline: deadline, TTL: m.TTL, Enqueued: now.Ceil(), Priority: 0,
		Persistent: m.Persistent, Seq: s.seq, Shared: m.Owned,
	})
	if m.Persistent && s.queue.Durable {
		r := s.messages.Get(h)
		s.out.records = append(s.out.records, store.Record{
			Kind: store.Put, Time: now.Floor(), First: s.seq, Last: s.seq,
			Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body,
			Deadline: deadline, TTL: m.TTL,
		})
	}
	return h
}

// remove forgets a message for good.
func (s *state) remove(h backlog.Handle, why store.Reason) {
	if s.queue.Durable {
		if e := s.messages.Entry(h); e.Persistent {
			s.removed(e.Seq, why)
		}
	}
	s.messages.Remove(h)
}

// removed writes a removal down, joined with the one before if it can be.
func (s *state) removed(seq uint64, why store.Reason) {
	if n := len(s.out.records); n > 0 {
		if r := &s.out.records[n-1]; r.Kind == store.Remove && r.Why == why && r.Last+1 == seq {
			r.Last = seq
			return
		}
	}
	s.out.records = append(s.out.records, store.Record{Kind: store.Remove, First: seq, Last: seq, Why: why})
}

// committed answers the publishers of the oldest batch in the journal.
func (s *state) committed(err error) {
	if len(s.commits) == 0 {
		return
	}
	c := s.commits[0]
	s.commits = s.commits[1:]
	if c.reply != nil {
		c.reply.Refused = err != nil
		s.send(c.to, c.reply)
	}
}
