package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/storage/store"
)

// This part keeps the deadlines for settling the unacked deliveries of one queue, the consumer timeout (ADR
// 10).
//
// Owns: the deadline of each such delivery, and a wheel of them. The wheel uses the links in the messages' entries,
// which are free while a message is not ready.
//
// Deadlines: Next returns when to call Advance. The time for which the machine sleeps does not count: Postpone.
//
// A restart loses everything: unacked messages are ready again.

// Timeouts holds the deadlines of the deliveries that must be settled in time. All times are in wall ms. A nil
// *Timeouts has none; only Len, Next, Until, Due, First, Stop, Postpone and Advance may be called on it.
type Timeouts struct {
	messages  *backlog.Backlog
	wheel     wheel.Wheel[*Timeouts]
	byMessage map[backlog.Handle]ackTimeout
	due       []backlog.Handle // fired by the wheel, reused
	// shift is the broker's time minus the wheel's, in ms: the total sleep of the machine.
	shift int64
}

// ackTimeout is one delivery and its deadline.
type ackTimeout struct {
	channel *consumers.Holder
	number  uint64
	until   int64 // ms, in the wheel's time
}

// NewTimeouts returns an empty Timeouts for the messages in b.
func NewTimeouts(b *backlog.Backlog) *Timeouts {
	l := &Timeouts{messages: b, byMessage: map[backlog.Handle]ackTimeout{}}
	l.wheel = wheel.New(l)
	return l
}

// Len returns the number of deliveries with a deadline.
func (l *Timeouts) Len() int {
	if l == nil {
		return 0
	}
	return len(l.byMessage)
}

// Links implements wheel.Store.
func (l *Timeouts) Links(h backlog.Handle) *wheel.Links { return l.messages.Links(h) }

// Deadline implements wheel.Store.
func (l *Timeouts) Deadline(h backlog.Handle) int64 { return l.byMessage[h].until }

// Next returns when Advance has to be called, in wall ms; false for never.
func (l *Timeouts) Next() (at int64, ok bool) {
	if l == nil {
		return 0, false
	}
	at, ok = l.wheel.Next()
	return at + l.shift, ok
}

// Until returns the deadline of a delivery, 0 for none.
func (l *Timeouts) Until(h backlog.Handle) int64 {
	if l == nil {
		return 0
	}
	x, found := l.byMessage[h]
	if !found {
		return 0
	}
	return x.until + l.shift
}

// Due returns the number of deadlines up to at, which is not before the last Advance.
func (l *Timeouts) Due(at int64) int {
	if l == nil {
		return 0
	}
	return l.wheel.Until(at - l.shift)
}

// First returns the first deadline; false if there is none.
func (l *Timeouts) First() (at int64, ok bool) {
	if l == nil {
		return 0, false
	}
	at, ok = l.wheel.Earliest()
	return at + l.shift, ok
}

// Start sets the deadline of the delivery of h, which has the given number on its channel.
func (l *Timeouts) Start(h backlog.Handle, to *consumers.Holder, number uint64, until, now int64) {
	if l.wheel.Len() == 0 {
		l.wheel.Advance(now-l.shift, 0, nil) // fires nothing; sets the time
	}
	l.byMessage[h] = ackTimeout{to, number, until - l.shift}
	l.wheel.Add(h)
}

// Renew changes the deadline of a delivery.
func (l *Timeouts) Renew(h backlog.Handle, until int64) {
	l.wheel.Remove(h)
	x := l.byMessage[h]
	x.until = until - l.shift
	l.byMessage[h] = x
	l.wheel.Add(h)
}

// Extend moves the deadline of a delivery to ms from now if that is later, and returns the deadline, in wall ms, 0
// for none. It does nothing for a delivery without a deadline, or if ms is negative.
func (l *Timeouts) Extend(h backlog.Handle, now, ms int64) int64 {
	until := l.Until(h)
	if renewed := store.After(now, ms); until != 0 && ms >= 0 && renewed > until {
		l.Renew(h, renewed)
		return renewed
	}
	return until
}

// Stop removes the deadline of a delivery that was settled or requeued.
func (l *Timeouts) Stop(h backlog.Handle) {
	if l == nil {
		return
	}
	if _, found := l.byMessage[h]; found {
		l.wheel.Remove(h)
		delete(l.byMessage, h)
	}
}

// Postpone moves all deadlines by ms, the length of a jump in time.
func (l *Timeouts) Postpone(ms int64) {
	if l != nil {
		l.shift += ms
	}
}

// Advance calls f for deliveries past their deadline, at most limit of them; f has to stop each. more reports whether
// others may be left.
func (l *Timeouts) Advance(now int64, limit int, f func(channel *consumers.Holder, number uint64)) (more bool) {
	if l == nil {
		return false
	}
	more = l.wheel.Advance(now-l.shift, limit, func(h uint32) { l.due = append(l.due, h) })
	for _, h := range l.due {
		x := l.byMessage[h]
		f(x.channel, x.number)
	}
	if l.due = l.due[:0]; cap(l.due) > 64 {
		l.due = nil
	}
	return more
}
