package acktimeouts

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/store"
)

// Timeouts are the deliveries that have to be settled in time. All times are in wall ms. Of nil only Len, Next, Until, Due, First, Stop,
// Postpone and Advance may be called: there are none.
type Timeouts struct {
	messages  *backlog.Backlog
	wheel     wheel.Wheel[*Timeouts]
	byMessage map[backlog.Handle]timeout
	due       []backlog.Handle // what the wheel fires, reused
	// shift is by how many ms the wheel's time is behind the broker's: the machine
	// slept so long.
	shift int64
}

// timeout is one delivery and when it is over.
type timeout struct {
	channel *consumers.Channel
	number  uint64
	until   int64 // ms, in the wheel's time
}

// New makes those of the messages in b.
func New(b *backlog.Backlog) *Timeouts {
	l := &Timeouts{messages: b, byMessage: map[backlog.Handle]timeout{}}
	l.wheel = wheel.New(l)
	return l
}

// Len is how many deliveries have to be settled in time.
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

// Next is when Advance is to be called.
func (l *Timeouts) Next() (at int64, ok bool) {
	if l == nil {
		return 0, false
	}
	at, ok = l.wheel.Next()
	return at + l.shift, ok
}

// Until is when a delivery has to be settled, 0 for never.
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

// Due is how many deliveries have to be settled at that time or before, which is not before the last Advance.
func (l *Timeouts) Due(at int64) int {
	if l == nil {
		return 0
	}
	return l.wheel.Until(at - l.shift)
}

// First is when the first delivery has to be settled; false for none.
func (l *Timeouts) First() (at int64, ok bool) {
	if l == nil {
		return 0, false
	}
	at, ok = l.wheel.Earliest()
	return at + l.shift, ok
}

// Start fixes until when the delivery of h, which has that number on its channel, has to be settled.
func (l *Timeouts) Start(h backlog.Handle, to *consumers.Channel, number uint64, until, now int64) {
	if l.wheel.Len() == 0 {
		l.wheel.Advance(now-l.shift, 0, nil) // nothing fires; it only learns the time
	}
	l.byMessage[h] = timeout{to, number, until - l.shift}
	l.wheel.Add(h)
}

// Renew gives a delivery another time.
func (l *Timeouts) Renew(h backlog.Handle, until int64) {
	l.wheel.Remove(h)
	x := l.byMessage[h]
	x.until = until - l.shift
	l.byMessage[h] = x
	l.wheel.Add(h)
}

// Extend gives a delivery ms from now, if that is later than it had, and returns when it has to be settled then, in wall
// ms, 0 for never. It changes none without a timeout, and nothing if ms is negative.
func (l *Timeouts) Extend(h backlog.Handle, now, ms int64) int64 {
	until := l.Until(h)
	if renewed := store.After(now, ms); until != 0 && ms >= 0 && renewed > until {
		l.Renew(h, renewed)
		return renewed
	}
	return until
}

// Stop ends one: the delivery is settled or comes back.
func (l *Timeouts) Stop(h backlog.Handle) {
	if l == nil {
		return
	}
	if _, found := l.byMessage[h]; found {
		l.wheel.Remove(h)
		delete(l.byMessage, h)
	}
}

// Postpone moves them all by so many ms, by which the time has jumped.
func (l *Timeouts) Postpone(ms int64) {
	if l != nil {
		l.shift += ms
	}
}

// Advance calls f for deliveries whose time is over, limit at most, each of which is to be stopped by it. more tells that
// there may be others.
func (l *Timeouts) Advance(now int64, limit int, f func(channel *consumers.Channel, number uint64)) (more bool) {
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
