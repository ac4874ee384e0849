package queue

import (
	"sync"

	"candlemark/actors/queue/content"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// verdict says what becomes of a message that arrives.
type verdict uint8

const (
	pass      verdict = iota // the next gate decides
	discarded                // not kept, but counts as taken
	taken                    // confirmed at once
	stored                   // confirmed when the journal has it
	refused
	skipped // a run of a schedule that is left out (REC-8)
	unfit   // not valid for the queue: refused or, if it is a copy by an action, dropped
	verdicts
)

// gate decides on messages that arrive, before the queue delivers or keeps them.
type gate interface {
	// Judge returns pass unless it decides. In a dry run (incoming.dry) it only finds out.
	Judge(a *incoming) verdict
	// Took is called when a message that the gate let pass is taken or stored. It returns v, or stored if the confirm has
	// to wait for a record of the gate.
	Took(a *incoming, v verdict) verdict
}

// incoming is a batch that arrives, and the message of it that is being judged. It is reused.
type incoming struct {
	*host
	batch    *mail.Enqueue
	now      clock.Instant
	gates    []gate // those that judge the batch
	decided  int    // the gate that has decided about the message
	dry      bool
	m        *message.Message
	seq      uint64          // the number that the queue gave it, 0 for none
	run      mail.Run        // that the message is, if it is one
	direct   bool            // it was delivered without being kept
	made     bool            // false if the action of a rule could not be applied
	original message.Message // before the action was applied
	times    content.Times   // in its headers
	scanned  content.Scanned // its properties
	id       uint64          // for the gate of duplicates: of the message, 0 for none
	ids      map[uint64]bool // in a dry run, of the messages before
	replies  [verdicts]*mail.EnqueueReply
}

var arrivals = sync.Pool{New: func() any { return new(incoming) }}

// enqueue takes a batch in order. Messages for the journal are confirmed when the journal has them, all others at once.
func (s *state) enqueue(e *mail.Enqueue, now clock.Instant) {
	s.renewedBy(policies.RenewedByPublish, expiry.LeasePublished, now)
	s.messages.ExpireDue(now)
	s.messages.Counts.Publish += uint64(len(e.Messages))
	a := arrivals.Get().(*incoming)
	a.host, a.batch, a.now = &s.host, e, now
	for _, of := range gates {
		if g := of(s, e); g != nil {
			a.gates = append(a.gates, g)
		}
	}
	refuses := e.AllOrNone && a.refusesAll()
	if !refuses {
		a.take()
		withhold(s, e, now)
	}
	s.out.done = append(s.out.done, e)
	a.answer()
	if !refuses {
		s.messages.Journal.Confirm(e, a.replies[stored])
	}
	clear(a.gates)
	*a = incoming{gates: a.gates[:0]}
	arrivals.Put(a)
}

// take takes the messages that the gates admit.
func (a *incoming) take() {
	for i := range a.batch.Messages {
		if a.batch.Origins != nil {
			a.messages.Journal.Origin = store.Origin{Queue: store.QueueID(a.batch.Origin), Seq: a.batch.Origins[i]}
		}
		if a.batch.Runs != nil {
			a.run = a.batch.Runs[i]
		}
		a.note(a.enter(&a.batch.Messages[i]))
	}
}

// enter takes one message, unless a gate decides otherwise.
func (a *incoming) enter(m *message.Message) verdict {
	before := a.messages.Seq
	v, by := a.judge(m), len(a.gates)
	if v == pass {
		v = a.accept()
	} else {
		by = a.decided
	}
	if a.seq = a.messages.Seq; a.seq == before {
		a.seq = 0
	}
	if v == taken || v == stored {
		for _, g := range a.gates[:by] {
			v = g.Took(a, v)
		}
	}
	return v
}

// judge asks the gates about a message until one decides.
func (a *incoming) judge(m *message.Message) verdict {
	a.m, a.made, a.direct, a.times = m, true, false, content.Times{}
	a.scanned.Next()
	for i, g := range a.gates {
		if v := g.Judge(a); v != pass {
			a.decided = i
			return v
		}
	}
	return pass
}

// refusesAll reports whether a batch that is to be taken all or none is refused because one message cannot be taken
// (DL-10). If they exceed the limits, each of them is treated as a refused publish.
func (a *incoming) refusesAll() bool {
	come, bytes := make([]message.Message, 0, len(a.batch.Messages)), int64(0)
	a.dry = true
	for i := range a.batch.Messages {
		come = append(come, a.batch.Messages[i])
		switch v := a.judge(&come[len(come)-1]); v {
		case pass:
			bytes += int64(len(a.m.Body))
		case refused, unfit:
			a.all(v)
			return true
		default:
			come = come[:len(come)-1]
		}
	}
	a.dry = false
	if !a.messages.Refuses(len(come), bytes) {
		return false
	}
	for i := range come {
		a.messages.Unwanted(&come[i], store.Overflowed, a.now)
	}
	a.all(refused)
	return true
}

// all notes a verdict about all messages.
func (a *incoming) all(v verdict) {
	for i := range a.batch.Messages {
		a.m = &a.batch.Messages[i]
		a.note(v)
	}
}

// note adds the publish number of the message to the reply for a verdict.
func (a *incoming) note(v verdict) {
	if a.m.Number == 0 {
		return
	}
	if v == discarded {
		v = taken
	}
	reply := a.replies[v]
	if reply == nil {
		reply = &mail.EnqueueReply{Queue: a.self}
		a.replies[v] = reply
	}
	reply.Add(a.m.Number)
	if a.batch.Numbered {
		reply.Seqs = append(reply.Seqs, a.seq)
	}
}

// answer sends the replies that need not wait for the journal.
func (a *incoming) answer() {
	for _, v := range [...]verdict{taken, refused, unfit, skipped} {
		reply := a.replies[v]
		if reply == nil {
			continue
		}
		if v == refused || v == unfit && a.batch.Action == nil {
			reply.Refused, reply.Seqs = true, nil
		}
		reply.Skipped = v == skipped
		if v == unfit {
			reply.Why = unfitness(a.batch)
		}
		a.out.Send(a.batch.From, reply)
	}
}

// kept tells when a message that the queue keeps can be confirmed.
func kept(written bool) verdict {
	if written {
		return stored
	}
	return taken
}

// lifetime returns the deadline of the message, whether it is over at once, so that it is delivered now or expires
// (TTL-20), and whether not even a delivery now is possible.
func (a *incoming) lifetime() (deadline int64, late, over bool) {
	if a.times.Dated {
		left := a.times.Expires - a.now.Ceil()
		a.m.Cap(max(left, 0))
		over = left <= 0
	}
	deadline = a.messages.Expiry.Deadline(a.m.TTL, a.now)
	return deadline, over || deadline <= a.now.Floor(), over
}

// accept delivers the message to a consumer that can take it now, unless other messages are ahead of it, or adds it to the
// backlog.
func (a *incoming) accept() verdict {
	deadline, late, over := a.lifetime()
	c := a.source.First(mail.ChargeOf(a.m.Size()))
	if over || a.messages.Backlog.Ready() > 0 {
		c = nil
	}
	switch {
	case c != nil && c.NoAck:
		a.direct = true
		a.deliveries.DeliverDirect(c, a.m, a.batch.Chunk, deadline, a.now)
		return taken
	case c == nil && late && !a.messages.ShouldDeadLetter(store.Expired) && !a.messages.Settings.AnswerRequests:
		a.messages.Notices.Dropped(store.Expired)
		return taken
	}
	h := a.messages.Keep(a.m, deadline, a.now)
	written := a.messages.Backlog.Entry(h).Stored
	switch {
	case c != nil:
		a.deliveries.Deliver(c, h, a.now)
	case late:
		a.messages.EndReady(h, store.Expired)
	default:
		a.messages.Wait(h)
	}
	return kept(written)
}
