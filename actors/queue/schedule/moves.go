package schedule

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/records"
	"candlemark/internal/store"
)

// Enqueue keeps a message with those times until it is due, its deadline. If it is to survive it is written to w, which it
// reports, else spilled if memory is over its limit.
func (x *Schedule) Enqueue(r *backlog.Record, times content.Times, w *records.Writer, overLimit bool) (stored bool) {
	h := x.Messages.Push(r)
	x.due.Add(h)
	x.chain(h, times.ID)
	switch {
	case w.Keeps(r.Persistent):
		written := w.Put(&x.Messages.Backlog, h)
		if written.Due = r.Deadline; times.Due.Dated {
			written.Deadline = store.Never
		}
		return true
	case overLimit:
		w.Spill(&x.Messages.Backlog, h, true)
	}
	return false
}

// Restore brings back messages that the journal has, paged out, by ascending number, in a queue with priorities up to
// highest.
func (x *Schedule) Restore(list []*store.Recovered, highest uint8) {
	handles := make([]backlog.Handle, 0, len(list))
	for _, m := range list {
		r := content.Recovered(m, highest)
		r.Deadline, r.DeliveryCount = m.Due, 0
		h := x.Messages.PushPaged(&r, m.Body, uint64(m.At))
		x.Messages.Entry(h).Marks = backlog.Stored
		x.chain(h, m.MessageID)
		handles = append(handles, h)
	}
	x.due.AddAll(handles)
}

// Drop drops a message for good.
func (x *Schedule) Drop(w *records.Writer, h backlog.Handle, why store.Reason) {
	w.Remove(x.Messages.Entry(h), why)
	x.remove(h)
}

// Move makes a message the last of its priority in b, ready, with the number that it has. Its time there begins when it
// was due: so its TTL does (DLY-9), as e says. It needs no content for that.
func (x *Schedule) Move(h backlog.Handle, b *backlog.Backlog, e *expiry.Expiry, w *records.Writer) (to backlog.Handle) {
	entry := x.Messages.Entry(h)
	due, marks, place, paged := entry.Deadline, entry.Marks&backlog.Stored, x.Messages.Place(h), x.Messages.IsPaged(h)
	r := backlog.Record{Seq: entry.Seq, Priority: x.Messages.Priority(h), Persistent: entry.Persistent}
	size := x.Messages.Size(h)
	if paged {
		_, r.TTL = x.Messages.Times(h)
	} else {
		r = backlog.Record{}
		x.Messages.Get(h, &r)
		r.DeliveryCount = 0
	}
	backlog.Disorder(b)
	r.Enqueued, r.Deadline = due, store.After(due, e.TTL(r.TTL))
	x.remove(h)
	if paged {
		to = b.PushPaged(&r, uint32(size), place)
	} else if to = b.Push(&r); place != 0 {
		b.SetPlace(to, place)
	}
	b.Entry(to).Marks = marks
	if marks != 0 && place == 0 {
		w.Follow(r.Seq, h, to)
	}
	return to
}
