package schedule

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/records"
	"candlemark/internal/storage/store"
)

// changeLimit is the maximum number of messages with one message-id that a command changes, in one turn.
const changeLimit = 10_000

// Change is a command about scheduled messages (DLY-11).
type Change struct {
	Due    int64    // the new due time in wall ms, 0 to cancel
	All    []uint64 // numbers, possibly repeated: all messages are changed, or none if one does not exist
	Count  int      // number of changed messages
	Stored bool     // at least one is in the journal
}

// Change applies c to the message with a number or, with number 0, to the messages with a message-id. Of messages not
// in memory only the hash of the id is known: the caller has to read want, and call found with the contents in the same
// order. Records are written to w.
func (x *Schedule) Change(c *Change, w *records.Writer, seq uint64, id string) (want []store.Ref, found func([]store.Content)) {
	var paged []backlog.Handle
	switch {
	case x == nil:
	case len(c.All) > 0:
		x.changeAll(c, w)
	case seq != 0:
		if h, ok := x.Messages.Find(seq); ok {
			x.change(c, w, h)
		}
	default:
		for _, h := range x.withHash(store.HashID(id), changeLimit) {
			if x.Messages.Backlog.IsPaged(h) {
				paged = append(paged, h)
				want = append(want, x.Ref(h))
				continue
			}
			var r backlog.Record
			if x.Messages.Backlog.Get(h, &r); content.MessageID(r.Header) == id {
				x.change(c, w, h)
			}
		}
	}
	return want, func(contents []store.Content) {
		for i := range contents {
			if read := &contents[i]; read.Err == nil && x.Messages.Backlog.Has(paged[i], read.Seq) && content.MessageID(read.Record.Header) == id {
				x.change(c, w, paged[i])
			}
		}
	}
}

// changeAll changes several messages, or none.
func (x *Schedule) changeAll(c *Change, w *records.Writer) {
	if slices.ContainsFunc(c.All, func(seq uint64) bool { _, ok := x.Messages.Find(seq); return !ok }) {
		return
	}
	for _, seq := range c.All {
		if h, ok := x.Messages.Find(seq); ok {
			x.change(c, w, h)
		}
	}
}

// change applies the command to one message.
func (x *Schedule) change(c *Change, w *records.Writer, h backlog.Handle) {
	c.Count++
	c.Stored = c.Stored || x.Messages.Backlog.Entry(h).Marks&backlog.Written != 0
	if c.Due == 0 {
		x.Drop(w, h, store.Cancelled)
		return
	}
	x.Reschedule(w, h, c.Due)
}

// Reschedule gives a message another due time, in wall ms.
func (x *Schedule) Reschedule(w *records.Writer, h backlog.Handle, due int64) {
	e := x.Messages.Backlog.Entry(h)
	x.due.Remove(h)
	e.Deadline = due
	x.due.Add(h)
	w.Reschedule(e, due)
}

// HashOf returns the hash of a message's message-id, 0 for none (store.HashID).
func (x *Schedule) HashOf(h backlog.Handle) uint32 {
	return uint32(x.Messages.Backlog.Entry(h).Returns)
}

// withHash returns the messages whose ids have the given hash, the newest first, at most limit.
func (x *Schedule) withHash(id uint32, limit int) (list []backlog.Handle) {
	for h := x.ids[id]; h != 0 && len(list) < limit; h = x.Messages.Backlog.Entry(h).Links.Next {
		list = append(list, h)
	}
	return list
}
