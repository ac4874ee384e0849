package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/ledger"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/protocol"
)

// dyingLimit is how many dead letters are with the dead-letter actor at a time
// (PRO-12); the others wait here, taken, counted nowhere else.
const dyingLimit = 4096

// dying are messages that left by a reason that dead-letters and stay until the
// dead-letter actor has taken care of them (DL-31).
type dying struct {
	all     ledger.Ledger[dead]
	bytes   int64  // of their bodies
	sent    uint64 // the highest number handed to the dead-letter actor
	out     int    // how many of those it has not answered
	round   uint64 // how often what is with the dead-letter actor was lost there
	retries retries
	// moving are those that did not die but are moved on (forward.go).
	moving      int
	movingBytes int64
}

type dead struct {
	message backlog.Handle
	why     store.Reason
	tries   uint8          // how often it came back
	now     bool           // moved on with a TTL of 0
	taken   []mail.Address // targets that have it nevertheless
}

// mourns reports whether messages that end for this reason are dead-lettered. The
// backlog of a queue whose lease ended is, if that is asked for, whatever becomes of
// messages that expire.
func (s *state) mourns(why store.Reason) bool {
	return s.settings.HasDLX && (why != expired || !s.settings.DropExpired || s.phase >= leaving && s.bequeaths())
}

// die ends a ready message: it is dropped, or dying if there is an exchange to
// send it to. The caller has taken it off the wheel.
func (s *state) die(h backlog.Handle, why store.Reason) {
	if s.mourns(why) {
		s.messages.Take(h)
	}
	s.bringOut(h, why)
}

// bringOut ends a message that is not ready.
func (s *state) bringOut(h backlog.Handle, why store.Reason) {
	if !s.mourns(why) {
		s.out.unmourned[why]++
		s.remove(h, why)
		return
	}
	s.dying.bytes += s.messages.Size(h)
	s.dying.all.Append(dead{message: h, why: why})
}

// discard forgets a dead message that left the ledger.
func (s *state) discard(x dead) {
	s.unburden(x)
	s.remove(x.message, x.why)
}

// unburden takes what left the ledger out of the sums.
func (s *state) unburden(x dead) {
	size := s.messages.Size(x.message)
	s.dying.bytes -= size
	if x.why == forwarded {
		s.dying.moving--
		s.dying.movingBytes -= size
	}
}

// bury sends what is dying to the dead-letter actor, within the limit, in order.
// A queue that has ended waits for no answers, and what is dropped since there is
// no exchange any more needs none.
func (s *state) bury(now clock.Instant) {
	d := &s.dying
	l := letters{now: now}
	for n := 0; (d.out < dyingLimit || !s.settings.HasDLX || s.phase == ended) && d.sent < d.all.Last(); n++ {
		if n == max(int(s.most), dyingLimit) && s.phase != ended {
			s.out.again = true
			return
		}
		if x, ok := d.all.Get(d.sent + 1); ok && !s.hearse(&l, d.sent+1, x) {
			first, last := d.sent+1, min(d.all.Last(), d.sent+uint64(dyingLimit-d.out))
			s.readDead(func(yield func(uint64) bool) {
				for id := first; id <= last && yield(id); id++ {
				}
			}, now)
			return
		}
		d.sent++
	}
}

// letters gathers one mail for each run of dead messages that are to be treated
// alike.
type letters struct {
	now    clock.Instant
	letter *mail.DeadLetter
	why    store.Reason
}

// hearse adds one to what the dead-letter actor is sent, unless the settings by
// which it came here have changed. It reports false if the content has to be read
// first.
func (s *state) hearse(l *letters, id uint64, x dead) bool {
	switch {
	case x.why == forwarded:
		if s.strays(id, x, l.now) {
			return true
		}
	case !s.settings.HasDLX:
		s.dying.all.Take(id)
		s.out.unmourned[x.why]++
		s.discard(x)
		return true
	}
	if s.messages.IsPaged(x.message) {
		if s.messages.Entry(x.message).Marks&backlog.Damaged == 0 {
			return false
		}
		s.dying.all.Take(id)
		s.unburden(x)
		s.remove(x.message, store.Damaged)
		return true
	}
	s.dying.out++
	care := s.care(x)
	if l.letter == nil || l.why != x.why || l.letter.Care != care || len(l.letter.Messages) == mail.LetterLimit {
		l.why, l.letter = x.why, s.letter(x.why, l.now)
		l.letter.Care = care
		s.send(s.vhost.DeadLetter, l.letter)
	}
	r := s.messages.Get(x.message)
	m := content(&r)
	m.Number, m.Priority = id, ownPriority(&m)
	if x.why == forwarded {
		m.TTL = s.remaining(x.message, m.TTL, l.now)
	}
	l.letter.Add(m, x.taken)
	return true
}

// ownPriority is the message's priority property; the queue knows it only up to
// its own highest one (DL-18).
func ownPriority(m *message.Message) uint8 {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil {
		return m.Priority
	}
	return scan.Priority
}

func (s *state) letter(why store.Reason, now clock.Instant) *mail.DeadLetter {
	if why == forwarded {
		return s.forwarding()
	}
	if s.holds {
		return &mail.DeadLetter{
			From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: "delayed", Release: true,
			Exchange: s.settings.DeadLetterExchange, Time: s.date(now), Round: s.dying.round,
		}
	}
	return &mail.DeadLetter{
		From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: reasons[why],
		Exchange: s.settings.DeadLetterExchange, RoutingKey: s.settings.DeadLetterRoutingKey, HasKey: s.settings.HasDLK,
		Time: s.date(now), Round: s.dying.round, Count: s.settings.DeathCount, Continue: s.settings.DeathContinue,
	}
}

// reasons are the words of DL-9.
var reasons = map[store.Reason]string{expired: "expired", rejected: "rejected", maxlen: "maxlen", worn: "delivery_limit", exhausted: "hops"}

// buried: the dead-letter actor has taken care of some, leaves others to the
// queue, or has failed and wants all that it has not answered again.
func (s *state) buried(m *mail.DeadLetterReply, now clock.Instant) {
	if m.Incarnation != s.queue.Incarnation {
		return
	}
	again := false
	for _, r := range m.IDs {
		s.dying.all.TakeRange(r.First, r.Last, func(_ uint64, x dead) {
			s.dying.out--
			again = again || x.tries > 0
			s.discard(x)
		})
	}
	for _, k := range m.Kept {
		s.stays(k, now)
	}
	if again {
		s.dying.retries.goesAgain(now)
	}
	if m.Lost && m.Round == s.dying.round {
		s.dying.rewind()
	}
	s.bury(now)
	if s.phase == live {
		s.dispatch(now) // there is room for more to be moved on, or some came back (forward.go)
	}
}

// rewind makes all that are not answered to be sent again, and what waits for
// another attempt with them.
func (d *dying) rewind() {
	d.round++
	d.out, d.sent, d.retries = 0, d.all.Last(), retries{}
	d.all.Each(func(n uint64, _ dead) bool {
		d.sent = n - 1
		return false
	})
}
