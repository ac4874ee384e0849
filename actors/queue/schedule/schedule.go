package schedule

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/dueindex"
	"candlemark/internal/budget"
	"candlemark/internal/store"
)

// Schedule is the scheduled messages of a queue. nil has none, and is good for Len, First, Counted, NextRelease and Change.
type Schedule struct {
	Messages backlog.Findable
	// Overdue is until when those were due that came due while the broker was down,
	// wall ms; GivenUp counts those that were dropped or dead-lettered for it.
	Overdue int64
	GivenUp int
	// Reading: the content of the first one is being read, and the others wait behind it.
	Reading bool
	// Trimming is how far its contents have left memory.
	Trimming backlog.Trimming
	due      dueindex.Index[*backlog.Findable]
	ids      map[uint32]backlog.Handle // the newest of each hash
	rate     rateLimiter
}

// New makes an empty one, whose contents count against b.
func New(b *budget.Budget) *Schedule {
	x := &Schedule{ids: map[uint32]backlog.Handle{}}
	x.Messages.Budget = b
	x.due = dueindex.New(&x.Messages)
	return x
}

// Len is how many messages wait.
func (x *Schedule) Len() int {
	if x == nil {
		return 0
	}
	return x.due.Len()
}

// Counted is the size of the contents in memory, but for large ones, which count for all who share them.
func (x *Schedule) Counted() int64 {
	if x == nil {
		return 0
	}
	return x.Messages.Counted()
}

// First is the message that is released next and when it is due, in wall ms.
func (x *Schedule) First() (h backlog.Handle, due int64, ok bool) {
	if x == nil {
		return 0, 0, false
	}
	return x.due.First()
}

// Behind calls f for the messages behind a place in the order of their times and numbers, until f returns false.
func (x *Schedule) Behind(due int64, seq uint64, f func(h backlog.Handle) bool) {
	x.due.Behind(due, seq, f)
}

// chain remembers a message by the hash of its message-id, 0 for none.
func (x *Schedule) chain(h backlog.Handle, id uint32) {
	e := x.Messages.Entry(h)
	if e.DeliveryCount = id; id == 0 {
		return
	}
	first := x.ids[id]
	if e.Links.Next = first; first != 0 {
		x.Messages.Entry(first).Links.Prev = h
	}
	x.ids[id] = h
}

// remove ends the waiting of a message and takes it out of the backlog.
func (x *Schedule) remove(h backlog.Handle) {
	x.due.Remove(h)
	e := x.Messages.Entry(h)
	if id, prev, next := e.DeliveryCount, e.Links.Prev, e.Links.Next; id != 0 {
		switch {
		case prev != 0:
			x.Messages.Entry(prev).Links.Next = next
		case next != 0:
			x.ids[id] = next
		default:
			delete(x.ids, id)
		}
		if next != 0 {
			x.Messages.Entry(next).Links.Prev = prev
		}
		e.Links.Prev, e.Links.Next = 0, 0
	}
	x.Messages.Remove(h)
}

// Ref is where the journal has a message.
func (x *Schedule) Ref(h backlog.Handle) store.Ref {
	return store.Ref{Seq: x.Messages.Seq(h), At: store.Position(x.Messages.Place(h))}
}

// Settle follows a round of releases. A map does not shrink: an empty one is made anew.
func (x *Schedule) Settle() {
	if x.due.Len() == 0 {
		x.ids = map[uint32]backlog.Handle{}
	}
}

// Memory is about how many bytes they take, without counting.
func (x *Schedule) Memory() int64 {
	const each = 48 + 8 + 2 // entry, place in the journal, share of the segment
	return int64(x.Messages.Len())*each + x.Messages.Held() + x.due.Memory()
}

// Due is how many are due at wall ms or before.
func (x *Schedule) Due(ms int64) int { return x.due.Until(ms) }

// Counts are known, not counted (DLY-11), at now; dates are skew ms ahead of that.
func (x *Schedule) Counts(now, skew int64) (c mail.ScheduledCounts) {
	c.Count, c.Bytes = x.due.Len(), x.Messages.Bytes()
	if _, due, ok := x.due.First(); ok {
		c.NextDue = due + skew
	}
	c.Overdue = x.due.Until(now)
	before := 0
	for i, ms := range [...]int64{1000, 60_000, 3_600_000, 86_400_000} {
		n := x.due.Until(now + ms)
		c.Within[i], before = n-before, n
	}
	c.Within[4] = c.Count - before
	return c
}
