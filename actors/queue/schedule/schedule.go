package schedule

import (
	"candlemark/actors/queue/backlog"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
)

// Schedule holds the scheduled messages of a queue. A nil *Schedule is empty and valid for Len, First, Counted,
// NextRelease and Change.
type Schedule struct {
	Messages backlog.Findable
	// Overdue is the latest due time, in wall ms, of messages that became due while the broker was down; GivenUp counts
	// the messages that were dropped or dead-lettered for that reason.
	Overdue int64
	GivenUp int
	// Reading: the content of the first message is being read, and the others wait for it.
	Reading bool
	// Trimming is the progress of paging its contents out.
	Trimming backlog.Trimming
	due      dueIndex[*backlog.Backlog]
	ids      map[uint32]backlog.Handle // the newest message of each hash
	rate     rateLimiter
}

// New returns an empty Schedule, whose contents count towards b.
func New(b *budget.Budget) *Schedule {
	x := &Schedule{ids: map[uint32]backlog.Handle{}}
	x.Messages.Backlog.Budget = b
	x.due = newDueIndex(&x.Messages.Backlog)
	return x
}

// Len returns the number of messages.
func (x *Schedule) Len() int {
	if x == nil {
		return 0
	}
	return x.due.Len()
}

// Counted returns the size of the contents in memory, except large ones, which are counted once for all queues that
// share them.
func (x *Schedule) Counted() int64 {
	if x == nil {
		return 0
	}
	return x.Messages.Backlog.Counted()
}

// First returns the next message to be released and its due time, in wall ms.
func (x *Schedule) First() (h backlog.Handle, due int64, ok bool) {
	if x == nil {
		return 0, 0, false
	}
	return x.due.First()
}

// Behind calls f for the messages after a position, by due time and number, until f returns false.
func (x *Schedule) Behind(due int64, seq uint64, f func(h backlog.Handle) bool) {
	x.due.Behind(due, seq, f)
}

// chain indexes a message by the hash of its message-id, 0 for none.
func (x *Schedule) chain(h backlog.Handle, id uint32) {
	e := x.Messages.Backlog.Entry(h)
	if e.Returns = message.Returns(id); id == 0 {
		return
	}
	first := x.ids[id]
	if e.Links.Next = first; first != 0 {
		x.Messages.Backlog.Entry(first).Links.Prev = h
	}
	x.ids[id] = h
}

// remove removes a message from the schedule and its backlog.
func (x *Schedule) remove(h backlog.Handle) {
	x.due.Remove(h)
	e := x.Messages.Backlog.Entry(h)
	if id, prev, next := uint32(e.Returns), e.Links.Prev, e.Links.Next; id != 0 {
		switch {
		case prev != 0:
			x.Messages.Backlog.Entry(prev).Links.Next = next
		case next != 0:
			x.ids[id] = next
		default:
			delete(x.ids, id)
		}
		if next != 0 {
			x.Messages.Backlog.Entry(next).Links.Prev = prev
		}
		e.Links.Prev, e.Links.Next = 0, 0
	}
	x.Messages.Backlog.Remove(h)
}

// Ref returns the place of a message in the journal.
func (x *Schedule) Ref(h backlog.Handle) store.Ref {
	return store.Ref{Seq: x.Messages.Backlog.Seq(h), At: store.Position(x.Messages.Backlog.Place(h))}
}

// Settle is called after a round of releases. It replaces empty maps, because maps do not shrink.
func (x *Schedule) Settle() {
	if x.due.Len() == 0 {
		x.ids = map[uint32]backlog.Handle{}
	}
}

// Memory returns the approximate bytes that the messages use. It is maintained, not computed.
func (x *Schedule) Memory() int64 {
	const each = 48 + 8 + 2 // entry, place in the journal, share of the segment
	return int64(x.Messages.Backlog.Len())*each + x.Messages.Backlog.Held() + x.due.Memory()
}

// Due returns the number of messages due at or before ms (wall ms).
func (x *Schedule) Due(ms int64) int { return x.due.Until(ms) }

// Counts returns the counts at now (DLY-11). They are maintained, not computed.
func (x *Schedule) Counts(now int64, dates clock.Dates) (c mail.ScheduledCounts) {
	c.Count, c.Bytes = x.due.Len(), x.Messages.Backlog.Bytes()
	if _, due, ok := x.due.First(); ok {
		c.NextDue = dates.Date(due)
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
