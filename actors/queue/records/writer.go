package records

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/outbox"
	"candlemark/internal/store"
)

// Writer gathers the records of one queue. The zero value is not usable; see New.
type Writer struct {
	// At is the turn's time, in wall ms.
	At int64
	// Removed, unless nil, is told of every message that is gone, in the journal or not.
	Removed  func(seq uint64)
	out      *outbox.Outbox
	commit   *Commit        // of the turn, nil for none
	marks    []store.Record // of the turn: what became of messages
	underWay []*Commit      // in the journal, oldest first
	spilling int64          // bytes of Spill under way
	again    map[uint64]int // how often messages are under way that were put again
	err      error          // of the journal
	durable  bool           // the queue is
	spilled  bool           // there was a Spill, ever
	closed   bool
}

// New makes the Writer of a queue that is durable, or not. spilled: the journal had a Spill of it before.
func New(out *outbox.Outbox, durable, spilled bool) Writer {
	return Writer{out: out, durable: durable, spilled: spilled}
}

// Idle reports whether nothing is under way, and nothing has failed.
func (w *Writer) Idle() bool {
	return w.commit == nil && len(w.marks)+len(w.underWay) == 0 && w.err == nil && !w.closed
}

// Remember writes down a note under a number of its own: an id that counts until a moment.
func (w *Writer) Remember(seq, id uint64, now, until int64) {
	w.committing().note(store.Record{Time: now, First: seq, Last: seq, Deadline: until, TTL: int64(id)})
}

// NoteDown writes down a note with a content, which must not change: a key of 255 bytes at most, and a body.
func (w *Writer) NoteDown(seq uint64, key string, body []byte) {
	w.committing().note(store.Record{Time: w.At, First: seq, Last: seq, Deadline: store.Never, TTL: -1, RoutingKey: []byte(key), Header: []byte{0, 0}, Body: body})
}

// Forget writes down that a note is gone.
func (w *Writer) Forget(seq uint64) {
	if !w.closed {
		w.mark(store.Remove, seq, store.Expired)
	}
}

// Err is how the journal failed, nil while it did not: from then on what is to survive is to be refused.
func (w *Writer) Err() error { return w.err }

// Spilled reports whether the journal had a message that is not to survive, ever, and Spilling how many bytes of such
// messages are under way.
func (w *Writer) Spilled() bool { return w.spilled }

// Spilling is explained at Spilled.
func (w *Writer) Spilling() int64 { return w.spilling }

// Keeps reports whether a message is written down. What happens to those of a queue that nobody knows any more is not.
func (w *Writer) Keeps(persistent bool) bool { return persistent && w.durable && !w.closed }

// Put writes down a message of b that is to survive, and returns its record.
func (w *Writer) Put(b *backlog.Backlog, h backlog.Handle) *store.Record {
	return w.write(store.Put, b, h)
}

// Spill writes down a message of b that is not to survive, so that its content can leave memory. Of one that is scheduled
// the deadline is when it is due.
func (w *Writer) Spill(b *backlog.Backlog, h backlog.Handle, scheduled bool) {
	if w.err != nil || w.closed {
		return
	}
	r := w.write(store.Spill, b, h)
	if scheduled {
		r.Due = r.Deadline
	}
	if b.Entry(h).Marks&backlog.Deferred != 0 {
		w.mark(store.Deferred, r.First, 0)
	}
	n := int64(len(r.Header) + len(r.Body))
	w.commit.spilled += n
	w.spilling += n
	w.spilled = true
}

// PutAgain writes a message of b down again, if it is in the journal: its overlay is another one. Until that is durable its
// content stays in memory.
func (w *Writer) PutAgain(b *backlog.Backlog, h backlog.Handle) {
	e := b.Entry(h)
	if e.Marks&backlog.Stored == 0 {
		return
	}
	if b.Place(h) != 0 {
		b.SetPlace(h, 0)
	}
	if w.closed || w.err != nil {
		return
	}
	kind := store.Spill
	if w.Keeps(e.Persistent) {
		kind = store.Put
	}
	r := w.write(kind, b, h)
	if r.Again = true; e.Marks&backlog.Released != 0 {
		r.Due = r.Time
		w.mark(store.Released, e.Seq, 0)
	}
	if w.again == nil {
		w.again = map[uint64]int{}
	}
	w.again[e.Seq]++
}

// PuttingAgain reports whether a message is under way to be put again: what was written of it before counts no longer.
func (w *Writer) PuttingAgain(seq uint64) bool { return w.again[seq] > 0 }

// putAgain takes note that messages were.
func (w *Writer) putAgain(c *Commit) {
	for i := range c.Records {
		if r := &c.Records[i]; r.Again {
			if w.again[r.First]--; w.again[r.First] <= 0 {
				delete(w.again, r.First)
			}
		}
	}
}

func (w *Writer) write(kind store.Kind, b *backlog.Backlog, h backlog.Handle) *store.Record {
	b.Entry(h).Marks |= backlog.Stored
	var r backlog.Record
	b.Get(h, &r)
	return w.committing().add(kind, h, &r, content.Overlay(&r))
}

// committing is the turn's commit.
func (w *Writer) committing() *Commit {
	if w.commit == nil {
		w.commit = commits.Get().(*Commit)
	}
	return w.commit
}

// Note writes down what became of a message, if it is in the journal.
func (w *Writer) Note(kind store.Kind, e *backlog.Entry) {
	if e.Marks&backlog.Stored != 0 && !w.closed {
		w.mark(kind, e.Seq, 0)
	}
}

// Remove writes down that a message is gone, and why. What is written in this turn only is not written.
func (w *Writer) Remove(e *backlog.Entry, why store.Reason) {
	if w.Removed != nil {
		w.Removed(e.Seq)
	}
	if w.again != nil {
		delete(w.again, e.Seq)
	}
	if e.Marks&backlog.Stored != 0 && !w.closed && !w.commit.unwrite(e.Seq) {
		w.mark(store.Remove, e.Seq, why)
	}
}

// RemoveAll writes down that all messages are gone up to the one with that number.
func (w *Writer) RemoveAll(last uint64, why store.Reason) {
	if last > 0 && (w.durable || w.spilled) {
		w.marks = append(w.marks, store.Record{Kind: store.Remove, Time: w.At, First: 1, Last: last, Why: why})
	}
}

// Reschedule writes down that a message, if it is in the journal, is due at another time.
func (w *Writer) Reschedule(e *backlog.Entry, due int64) {
	if e.Marks&backlog.Stored != 0 {
		w.marks = append(w.marks, store.Record{Kind: store.Rescheduled, Time: w.At, First: e.Seq, Last: e.Seq, Due: due})
	}
}

// mark joins with the record before if it can.
func (w *Writer) mark(kind store.Kind, seq uint64, why store.Reason) {
	if n := len(w.marks); n > 0 {
		if r := &w.marks[n-1]; r.Kind == kind && r.Why == why && r.Last+1 == seq {
			r.Last = seq
			return
		}
	}
	w.marks = append(w.marks, store.Record{Kind: kind, Time: w.At, First: seq, Last: seq, Why: why})
}

// Close writes nothing from now on: nobody knows the queue any more. Whoever waits is answered now.
func (w *Writer) Close() {
	w.closed = true
	w.answerAll(false)
}

// Retire writes down that the queue is gone with all that the journal has of it.
func (w *Writer) Retire() {
	if w.durable || w.spilled {
		w.marks = append(w.marks, store.Record{Kind: store.Retire, Time: w.At})
	}
}

// Follow has the commit in which a message is, if it is on its way, know its new handle.
func (w *Writer) Follow(seq uint64, from, to backlog.Handle) {
	for _, c := range w.underWay {
		if c.follow(seq, from, to) {
			return
		}
	}
	if w.commit != nil {
		w.commit.follow(seq, from, to)
	}
}

// Confirm has the turn's commit, if there is one, answer a publisher, with nil for nothing, and give its credit back.
func (w *Writer) Confirm(e *mail.Enqueue, reply *mail.EnqueueReply) {
	if c := w.commit; c != nil {
		c.to, c.reply = e.From, reply
		c.chunk, c.debt = e.DetachCredit()
	}
}

// Await calls f when what was written in this turn is durable, or lost.
func (w *Writer) Await(f func(failed bool)) {
	c := w.committing()
	c.waiting = append(c.waiting, f)
}

// HandOver ends the turn's records, which are for the journal, and returns the commit that it is to answer, nil for none:
// nobody waits for what became of messages.
func (w *Writer) HandOver() (list []store.Record, c *Commit) {
	c = w.commit
	w.commit = nil
	if c != nil && c.holes > 0 {
		c.close()
		if len(c.Records) == 0 && len(c.waiting) == 0 { // nothing is left to wait for
			w.finish(c, false)
			c.Recycle()
			c = nil
		}
	}
	switch {
	case c != nil:
		c.Records = append(c.Records, w.marks...)
		w.underWay = append(w.underWay, c)
		list = c.Records
	case len(w.marks) > 0:
		list = slices.Clone(w.marks)
	}
	if w.marks = w.marks[:0]; cap(w.marks) > 64 {
		w.marks = nil
	}
	return list, c
}

// Done takes note that a commit, the oldest unless the journal is closed, is durable, or lost: err says how. Whoever
// waits learns which. It reports whether the journal failed for the first time.
func (w *Writer) Done(c *Commit, err error) (broke bool) {
	switch i := slices.Index(w.underWay, c); {
	case i == 0:
		w.underWay[0] = nil
		w.underWay = w.underWay[1:]
	case i > 0:
		w.underWay = slices.Delete(w.underWay, i, i+1)
	}
	if len(w.again) > 0 {
		w.putAgain(c)
	}
	w.finish(c, err != nil)
	if broke = err != nil && w.err == nil; broke {
		w.err = err
	}
	return broke
}

// Fail is the end by a panic: whoever waits learns that nothing was stored, but for the publisher of the mail in hand,
// who is answered otherwise.
func (w *Writer) Fail() {
	if c := w.commit; c != nil {
		c.reply = nil
		w.underWay = append(w.underWay, c)
	}
	w.answerAll(true)
}

func (w *Writer) answerAll(failed bool) {
	for _, c := range w.underWay {
		w.answer(c, failed)
	}
	w.underWay = nil
}

func (w *Writer) finish(c *Commit, failed bool) {
	w.answer(c, failed)
	w.spilling -= c.spilled
}

// answer tells whoever waits and gives the publisher's credit back.
func (w *Writer) answer(c *Commit, failed bool) {
	if c.reply != nil {
		c.reply.Refused = failed
		w.out.Send(c.to, c.reply)
		c.reply = nil
	}
	for _, f := range c.waiting {
		f(failed)
	}
	c.waiting = nil
	c.chunk.Release()
	c.chunk = nil
	c.debt.Settle()
}
