package schedule

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/records"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// Enqueue adds a message with the given times; its deadline is its due time. If it survives a restart it is written to
// w, and Enqueue returns true; otherwise it is spilled if overLimit is set.
func (x *Schedule) Enqueue(r *backlog.Record, times content.Times, w *records.Writer, overLimit bool) (stored bool) {
	h := x.Messages.Push(r)
	x.due.Add(h)
	x.chain(h, times.ID)
	switch {
	case r.Stored:
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

// Restore adds messages from the journal, paged out, by ascending number. s are the settings of the queue.
func (x *Schedule) Restore(list []*store.Recovered, s *policies.QueueSettings) {
	handles := make([]backlog.Handle, 0, len(list))
	for _, m := range list {
		r := content.Recovered(m, s.PriorityOf(m.Priority))
		r.Deadline, r.Returns = m.Due, 0
		h := x.Messages.PushPaged(&r, m.Body, uint64(m.At))
		x.Messages.Backlog.Entry(h).Marks = backlog.Written
		x.chain(h, m.MessageID)
		handles = append(handles, h)
	}
	x.due.AddAll(handles)
}

// Drop removes a message.
func (x *Schedule) Drop(w *records.Writer, h backlog.Handle, why store.Reason) {
	w.Remove(x.Messages.Backlog.Entry(h), why)
	x.remove(h)
}

// Move moves a message to b, as ready and the last of its priority, with its number. Its time in b starts at its due
// time, and so does its TTL (DLY-9), as computed by e. The content is not needed.
func (x *Schedule) Move(h backlog.Handle, b *backlog.Backlog, e *expiry.Expiry, w *records.Writer) (to backlog.Handle) {
	entry := x.Messages.Backlog.Entry(h)
	due, marks, place, paged := entry.Deadline, entry.Marks&backlog.Written, x.Messages.Backlog.Place(h), x.Messages.Backlog.IsPaged(h)
	r := backlog.Record{Seq: entry.Seq, Priority: x.Messages.Backlog.Priority(h), Stored: entry.Stored}
	size := x.Messages.Backlog.Size(h)
	if paged {
		_, r.TTL = x.Messages.Backlog.Times(h)
	} else {
		r = backlog.Record{}
		x.Messages.Backlog.Get(h, &r)
		r.Returns = 0
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
