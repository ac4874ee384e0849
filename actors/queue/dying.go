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
// (DESIGN §5a.12); the others wait here, taken, counted nowhere else.
const dyingLimit = 4096

// dying are messages that left by a reason that dead-letters and stay until the
// dead-letter actor has taken care of them (DL-31).
type dying struct {
	all  ledger.Ledger[dead]
	sent uint64 // the highest number handed to the dead-letter actor
	out  int    // how many of those it has not answered
}

type dead struct {
	message backlog.Handle
	why     store.Reason
}

// die ends a ready message: it is dropped, or dying if there is an exchange to
// send it to. The caller has taken it off the wheel.
func (s *state) die(h backlog.Handle, why store.Reason) {
	if !s.settings.HasDLX {
		s.remove(h, why)
		return
	}
	s.messages.Take(h)
	s.dying.all.Append(dead{h, why})
}

// bringOut ends a message that is not ready.
func (s *state) bringOut(h backlog.Handle, why store.Reason) {
	if !s.settings.HasDLX {
		s.remove(h, why)
		return
	}
	s.dying.all.Append(dead{h, why})
}

// bury sends what is dying to the dead-letter actor, within the limit, in order
// and one mail for each run of one reason. A queue that has ended waits for no
// answers.
func (s *state) bury(now clock.Instant) {
	d := &s.dying
	if !s.settings.HasDLX { // it was there when they died
		s.drown()
		return
	}
	var letter *mail.DeadLetter
	var why store.Reason
	for (d.out < dyingLimit || s.phase == ended) && d.sent < d.all.Last() {
		d.sent++
		x, ok := d.all.Get(d.sent)
		if !ok {
			continue
		}
		d.out++
		if letter == nil || why != x.why {
			why = x.why
			letter = s.letter(why, now)
			s.send(s.vhost.DeadLetter, letter)
		}
		r := s.messages.Get(x.message)
		m := content(&r)
		m.Priority = ownPriority(&m)
		letter.Dead = append(letter.Dead, mail.Dead{ID: d.sent, Message: m})
	}
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

// drown drops what is dying and was not sent yet.
func (s *state) drown() {
	d := &s.dying
	if d.sent == d.all.Last() {
		return
	}
	d.all.TakeRange(d.sent+1, d.all.Last(), func(_ uint64, x dead) { s.remove(x.message, x.why) })
	d.sent = d.all.Last()
}

func (s *state) letter(why store.Reason, now clock.Instant) *mail.DeadLetter {
	return &mail.DeadLetter{
		From: s.self, Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Reason: reasons[why],
		Exchange: s.settings.DeadLetterExchange, RoutingKey: s.settings.DeadLetterRoutingKey, HasKey: s.settings.HasDLK,
		Time: now.Floor() / 1000,
	}
}

// reasons are the words of DL-9.
var reasons = map[store.Reason]string{expired: "expired", rejected: "rejected", maxlen: "maxlen", worn: "delivery_limit"}

// buried: the dead-letter actor has taken care of some, or has failed and wants
// all that it has not answered again.
func (s *state) buried(m *mail.DeadLetterReply, now clock.Instant) {
	if m.Incarnation != s.queue.Incarnation {
		return
	}
	for _, r := range m.IDs {
		s.dying.all.TakeRange(r.First, r.Last, func(_ uint64, x dead) {
			s.dying.out--
			s.remove(x.message, x.why)
		})
	}
	if m.Lost {
		s.dying.rewind()
	}
	s.bury(now)
}

// rewind makes all that are not answered to be sent again.
func (d *dying) rewind() {
	d.out, d.sent = 0, d.all.Last()
	d.all.Each(func(n uint64, _ dead) bool {
		d.sent = n - 1
		return false
	})
}
