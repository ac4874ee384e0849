package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/seqmap"
	"candlemark/internal/store"
)

// deadLetterLimit is how many dead letters are with the dead-letter actor at a time
// (PRO-12); the others wait here, taken, counted nowhere else.
const deadLetterLimit = 4096

// deadLetters are messages that left by a reason that dead-letters and stay until the
// dead-letter actor has taken care of them (DL-31).
type deadLetters struct {
	all     seqmap.Map[deadLetter]
	bytes   int64  // of their bodies
	sent    uint64 // the highest number handed to the dead-letter actor
	out     int    // how many of those it has not answered
	epoch   uint64 // how often what is with the dead-letter actor was lost there
	retries retries
	// forwarding are those that did not die but are moved on (forward.go).
	forwarding      int
	forwardingBytes int64
}

type deadLetter struct {
	message backlog.Handle
	reason  store.Reason
	tries   uint8          // how often it came back
	now     bool           // moved on with a TTL of 0
	taken   []mail.Address // targets that have it nevertheless
}

// shouldDeadLetter reports whether messages that end for this reason are dead-lettered. The
// backlog of a queue whose lease ended is, if that is asked for, whatever becomes of
// messages that expire.
func (s *state) shouldDeadLetter(why store.Reason) bool {
	return s.settings.HasDLX && (why != expired || !s.settings.DropExpired || s.phase >= draining && s.deadLettersBacklog())
}

// endReady ends a ready message: it is dropped, or becomes a dead letter if there is an
// exchange to send it to. The caller has taken it off the wheel.
func (s *state) endReady(h backlog.Handle, why store.Reason) {
	if s.shouldDeadLetter(why) {
		s.messages.Take(h)
	}
	s.end(h, why)
}

// end ends a message that is not ready.
func (s *state) end(h backlog.Handle, why store.Reason) {
	if !s.shouldDeadLetter(why) {
		s.out.dropped[why]++
		s.remove(h, why)
		return
	}
	s.deadLetters.bytes += s.messages.Size(h)
	s.deadLetters.all.Append(deadLetter{message: h, reason: why})
}

// discardDeadLetter removes a dead letter that is not waited for any more.
func (s *state) discardDeadLetter(x deadLetter) {
	s.uncountDeadLetter(x)
	s.remove(x.message, x.reason)
}

// uncountDeadLetter takes one out of the sums.
func (s *state) uncountDeadLetter(x deadLetter) {
	size := s.messages.Size(x.message)
	s.deadLetters.bytes -= size
	if x.reason == forwarded {
		s.deadLetters.forwarding--
		s.deadLetters.forwardingBytes -= size
	}
}

// flushDeadLetters sends dead letters to the dead-letter actor, within the limit, in order.
// A queue that has ended waits for no answers, and what is dropped since there is
// no exchange any more needs none.
func (s *state) flushDeadLetters(now clock.Instant) (more bool) {
	d := &s.deadLetters
	l := deadLetterBatch{now: now}
	for n := 0; (d.out < deadLetterLimit || !s.settings.HasDLX || s.phase == ended) && d.sent < d.all.Last(); n++ {
		if n == max(int(s.turnMost), deadLetterLimit) && s.phase != ended {
			return true
		}
		if x, ok := d.all.Get(d.sent + 1); ok && !s.appendDeadLetter(&l, d.sent+1, x) {
			first, last := d.sent+1, min(d.all.Last(), d.sent+uint64(deadLetterLimit-d.out))
			s.readDeadLetters(func(yield func(uint64) bool) {
				for id := first; id <= last && yield(id); id++ {
				}
			}, now)
			return false
		}
		d.sent++
	}
	return false
}

// deadLetterBatch gathers one mail for each run of dead messages that are to be treated
// alike.
type deadLetterBatch struct {
	now    clock.Instant
	mail   *mail.DeadLetter
	reason store.Reason
}

// appendDeadLetter adds one to what the dead-letter actor is sent, unless the settings by
// which it came here have changed. It reports false if the content has to be read
// first.
func (s *state) appendDeadLetter(l *deadLetterBatch, id uint64, x deadLetter) bool {
	switch {
	case x.reason == forwarded:
		if s.cancelForward(id, x, l.now) {
			return true
		}
	case !s.settings.HasDLX:
		s.deadLetters.all.Take(id)
		s.out.dropped[x.reason]++
		s.discardDeadLetter(x)
		return true
	}
	if s.messages.IsPaged(x.message) {
		if s.messages.Entry(x.message).Marks&backlog.Damaged == 0 {
			return false
		}
		s.deadLetters.all.Take(id)
		s.uncountDeadLetter(x)
		s.remove(x.message, store.Damaged)
		return true
	}
	s.deadLetters.out++
	care := s.guarantee(x)
	if l.mail == nil || l.reason != x.reason || l.mail.Guarantee != care || len(l.mail.Messages) == mail.DeadLetterBatch {
		l.reason, l.mail = x.reason, s.newDeadLetterMail(x.reason, l.now)
		l.mail.Guarantee = care
		s.send(s.vhost.DeadLetter, l.mail)
	}
	r := s.messages.Get(x.message)
	m := content.Message(&r)
	m.Number, m.Priority = id, content.Priority(&m)
	if x.reason == forwarded {
		m.TTL = s.remainingTTL(x.message, m.TTL, l.now)
	}
	l.mail.Add(m, x.taken)
	return true
}

func (s *state) newDeadLetterMail(why store.Reason, now clock.Instant) *mail.DeadLetter {
	if why == forwarded {
		return s.newForwardMail()
	}
	if s.holdsDelayed {
		return &mail.DeadLetter{
			From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: "delayed", Release: true,
			Exchange: s.settings.DeadLetterExchange, Time: s.date(now), Epoch: s.deadLetters.epoch,
		}
	}
	return &mail.DeadLetter{
		From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: reasons[why],
		Exchange: s.settings.DeadLetterExchange, RoutingKey: s.settings.DeadLetterRoutingKey, HasKey: s.settings.HasDLK,
		Time: s.date(now), Epoch: s.deadLetters.epoch, Count: s.settings.DeathCount, Continue: s.settings.DeathContinue,
	}
}

// reasons are the words of DL-9.
var reasons = map[store.Reason]string{expired: "expired", rejected: "rejected", maxlen: "maxlen", deliveryLimit: "delivery_limit", tooManyHops: "hops"}

// onDeadLetterReply: the dead-letter actor has taken care of some, leaves others to the
// queue, or has failed and wants all that it has not answered again.
func (s *state) onDeadLetterReply(m *mail.DeadLetterReply, now clock.Instant) {
	if m.Incarnation != s.queue.Incarnation {
		return
	}
	again := false
	for _, r := range m.IDs {
		s.deadLetters.all.TakeRange(r.First, r.Last, func(_ uint64, x deadLetter) {
			s.deadLetters.out--
			again = again || x.tries > 0
			s.discardDeadLetter(x)
		})
	}
	for _, k := range m.Kept {
		s.onKept(k, now)
	}
	if again {
		s.deadLetters.retries.retryNow(now)
	}
	if m.Lost && m.Epoch == s.deadLetters.epoch {
		s.deadLetters.resend()
	}
}

// resend makes all that are not answered to be sent again, and what waits for
// another attempt with them.
func (d *deadLetters) resend() {
	d.epoch++
	d.out, d.sent, d.retries = 0, d.all.Last(), retries{}
	d.all.Each(func(n uint64, _ deadLetter) bool {
		d.sent = n - 1
		return false
	})
}
