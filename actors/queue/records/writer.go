package records

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Writer collects the records of one queue. The zero value is not usable; see New.
type Writer struct {
	// At is the turn's time, in wall ms.
	At int64
	// Removed, unless nil, is called for every message that is removed, in the journal or not.
	Removed func(seq uint64)
	// Until, unless nil, returns the time until which a deferred message is postponed, in wall ms; false if it is not.
	Until func(h backlog.Handle) (ms int64, ok bool)
	// Origin is the origin of the messages put from now on, until Confirm.
	Origin   store.Origin
	out      *mail.Posts
	commit   *Commit        // this turn's, nil for none
	marks    []store.Record // this turn's records of changes
	underWay []*Commit      // commits in the journal, oldest first
	spilling int64          // bytes of Spill under way
	again    map[uint64]int // number of Puts under way for messages put again
	err      error          // error of the journal
	rule     Rule
	spilled  bool // the journal has had a Spill
	loose    bool // the newest records in the journal have no commit, so their end is not reported
	closed   bool
}

// New returns the Writer of a queue that stores messages by rule. spilled: the journal has had a Spill of the queue.
func New(out *mail.Posts, rule Rule, spilled bool) Writer {
	loose := rule != StoreNothing || spilled // records of before it was dormant
	return Writer{out: out, rule: rule, spilled: spilled, loose: loose}
}

// Idle reports whether nothing is under way, and the journal has not failed.
func (w *Writer) Idle() bool {
	return w.commit == nil && len(w.marks)+len(w.underWay) == 0 && w.err == nil && !w.closed
}

// Remember writes a note with its own number: an id that is remembered until a time.
func (w *Writer) Remember(seq, id uint64, now, until int64) {
	w.committing().note(store.Record{Time: now, First: seq, Last: seq, Deadline: until, TTL: int64(id)})
}

// Mark writes a note with its own number: the last run of a schedule that the queue has taken, with a nominal time in ms since 1970. Its message
// has the number seq-apart, apart being at least 1.
func (w *Writer) Mark(seq uint64, apart uint8, schedule uint64, time int64) {
	w.committing().note(store.Record{Time: w.At, First: seq, Last: seq, Deadline: time, TTL: int64(schedule), Priority: apart})
}

// NoteDown writes a note with a content, which must not change: a key of at most 255 bytes, and a body.
func (w *Writer) NoteDown(seq uint64, key string, body []byte) {
	w.committing().note(store.Record{Time: w.At, First: seq, Last: seq, Deadline: store.Never, TTL: -1, RoutingKey: []byte(key), Header: []byte{0, 0}, Body: body})
}

// Forget writes that a note is removed.
func (w *Writer) Forget(seq uint64) {
	if !w.closed {
		w.mark(store.Remove, seq, store.Expired)
	}
}

// Err returns the error of the journal, nil if it has not failed: after an error, messages that have to survive must
// be refused.
func (w *Writer) Err() error { return w.err }

// Spilled reports whether the journal has ever had a transient message of the queue.
func (w *Writer) Spilled() bool { return w.spilled }

// Spilling returns how many bytes of transient messages are under way.
func (w *Writer) Spilling() int64 { return w.spilling }

// Stores reports whether a message that enters the queue now is stored. Nothing is, for a queue that the vhost has
// forgotten.
func (w *Writer) Stores(m *message.Message) bool { return !w.closed && w.rule.Stores(m) }

// StoresNotes reports whether notes are stored.
func (w *Writer) StoresNotes() bool { return !w.closed && w.rule != StoreNothing }

// Put writes a message of b that is stored, and returns its record.
func (w *Writer) Put(b *backlog.Backlog, h backlog.Handle) *store.Record {
	return w.write(store.Put, b, h)
}

// Spill writes a transient message of b, so that its content can be paged out. The deadline of a scheduled message is
// its due time.
func (w *Writer) Spill(b *backlog.Backlog, h backlog.Handle, scheduled bool) {
	if w.err != nil || w.closed {
		return
	}
	r := w.write(store.Spill, b, h)
	if scheduled {
		r.Due = r.Deadline
	}
	if e := b.Entry(h); e.Marks&backlog.Deferred != 0 {
		if until, ok := w.until(h); ok {
			w.Postpone(e, until)
		} else {
			w.mark(store.Deferred, r.First, 0)
		}
	}
	n := int64(len(r.Header) + len(r.Body))
	w.commit.spilled += n
	w.spilling += n
	w.spilled = true
}

// PutAgain writes a message of b again, if it is in the journal, because its overlay has changed. Its content stays in
// memory until the new record is durable.
func (w *Writer) PutAgain(b *backlog.Backlog, h backlog.Handle) {
	e := b.Entry(h)
	if e.Marks&backlog.Written == 0 {
		return
	}
	if b.Place(h) != 0 {
		b.SetPlace(h, 0)
	}
	if w.closed || w.err != nil {
		return
	}
	kind := store.Spill
	if e.Stored {
		kind = store.Put
	}
	r := w.write(kind, b, h)
	if r.Again = true; e.Marks&backlog.Released != 0 {
		ttl := int64(-1)
		if r.Deadline != store.Never {
			ttl = max(r.Deadline-r.Time, 0)
		}
		r.Due = r.Time
		w.Release(e, ttl)
	}
	if w.again == nil {
		w.again = map[uint64]int{}
	}
	w.again[e.Seq]++
}

// PuttingAgain reports whether a message is being written again: its earlier record is outdated.
func (w *Writer) PuttingAgain(seq uint64) bool { return w.again[seq] > 0 }

// putAgain counts the messages of a commit that were put again.
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
	b.Entry(h).Marks |= backlog.Written
	var r backlog.Record
	b.Get(h, &r)
	r.Deadline = backlog.Entered(b, h)
	x := w.committing().add(kind, h, &r, content.Stored(&r))
	x.Origin = w.Origin
	return x
}

// StoredAs returns the sequence number of a message that survives a restart, 0 for others.
func StoredAs(e *backlog.Entry) uint64 {
	if !e.Stored || e.Marks&backlog.Written == 0 {
		return 0
	}
	return e.Seq
}

// committing returns the turn's commit.
func (w *Writer) committing() *Commit {
	if w.commit == nil {
		w.commit = commits.Get().(*Commit)
	}
	return w.commit
}

// Note writes a change of a message, if it is in the journal.
func (w *Writer) Note(kind store.Kind, e *backlog.Entry) {
	if e.Marks&backlog.Written != 0 && !w.closed {
		w.mark(kind, e.Seq, 0)
	}
}

// Release writes that a scheduled message, if it is in the journal, came due in a queue with that TTL in ms, negative for
// none.
func (w *Writer) Release(e *backlog.Entry, ttl int64) {
	if e.Marks&backlog.Written != 0 && !w.closed {
		w.join(store.Record{Kind: store.Released, First: e.Seq, TTLThen: store.Then(ttl)})
	}
}

// Remove writes that a message is removed, and why. A message that was written in this turn is dropped from the
// records instead.
func (w *Writer) Remove(e *backlog.Entry, why store.Reason) {
	if w.Removed != nil {
		w.Removed(e.Seq)
	}
	if w.again != nil {
		delete(w.again, e.Seq)
	}
	if e.Marks&backlog.Written != 0 && !w.closed && !w.commit.unwrite(e.Seq) {
		w.mark(store.Remove, e.Seq, why)
	}
}

// RemoveAll writes that all messages up to number last are removed.
func (w *Writer) RemoveAll(last uint64, why store.Reason) {
	if last > 0 && (w.rule != StoreNothing || w.spilled) {
		w.marks = append(w.marks, store.Record{Kind: store.Remove, Time: w.At, First: 1, Last: last, Why: why})
	}
}

// Reschedule writes the new due time of a message, if it is in the journal.
func (w *Writer) Reschedule(e *backlog.Entry, due int64) {
	if e.Marks&backlog.Written != 0 {
		w.marks = append(w.marks, store.Record{Kind: store.Rescheduled, Time: w.At, First: e.Seq, Last: e.Seq, Due: due})
	}
}

func (w *Writer) until(h backlog.Handle) (int64, bool) {
	if w.Until == nil {
		return 0, false
	}
	return w.Until(h)
}

// Postpone writes that a message is deferred until a time, if it is in the journal.
func (w *Writer) Postpone(e *backlog.Entry, until int64) {
	if e.Marks&backlog.Written != 0 && !w.closed {
		w.join(store.Record{Kind: store.Postponed, First: e.Seq, Until: until})
	}
}

// mark adds a record of one message.
func (w *Writer) mark(kind store.Kind, seq uint64, why store.Reason) {
	w.join(store.Record{Kind: kind, First: seq, Why: why})
}

// join adds a record of one message, merged with the previous one if possible.
func (w *Writer) join(next store.Record) {
	if n := len(w.marks); n > 0 {
		if r := &w.marks[n-1]; r.Kind == next.Kind && r.Why == next.Why && r.Until == next.Until && r.TTLThen == next.TTLThen && r.Last+1 == next.First {
			r.Last = next.First
			return
		}
	}
	next.Time, next.Last = w.At, next.First
	w.marks = append(w.marks, next)
}

// Close stops writing: the vhost has forgotten the queue. Waiting senders are answered now.
func (w *Writer) Close() {
	w.closed = true
	w.answerAll(false)
}

// Retire writes that the queue is gone with all its records.
func (w *Writer) Retire() {
	if w.rule != StoreNothing || w.spilled {
		w.marks = append(w.marks, store.Record{Kind: store.Retire, Time: w.At})
	}
}

// Follow updates the handle of a message in its commit, if the commit is under way.
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

// Confirm makes the turn's commit, if any, send reply, unless nil, to a publisher when it ends, and return the
// publisher's credit.
func (w *Writer) Confirm(e *mail.Enqueue, reply *mail.EnqueueReply) {
	w.Origin = store.Origin{}
	if c := w.commit; c != nil {
		c.to, c.reply = e.From, reply
		c.chunk, c.debt = e.DetachCredit()
	}
}

// Await calls f when this turn's records are durable, or have failed.
func (w *Writer) Await(f func(failed bool)) {
	c := w.committing()
	c.waiting = append(c.waiting, f)
}

// AwaitAll calls f when all records so far are durable, or have failed (DUR-3); at once if the end of none is
// outstanding, as for a queue whose messages are not in the journal.
func (w *Writer) AwaitAll(f func(failed bool)) {
	if w.closed || w.commit == nil && len(w.marks)+len(w.underWay) == 0 && !w.loose {
		f(false)
		return
	}
	w.Await(f) // commits end in order
}

// HandOver returns the turn's records for the journal, and the commit whose end the journal has to report, nil for
// none.
func (w *Writer) HandOver() (list []store.Record, c *Commit) {
	c = w.commit
	w.commit = nil
	if c != nil && c.holes > 0 {
		c.close()
		if len(c.Records) == 0 && len(c.waiting) == 0 { // nothing to wait for
			w.finish(c, false)
			c.Recycle()
			c = nil
		}
	}
	switch {
	case c != nil:
		c.Records = append(c.Records, w.marks...)
		w.underWay = append(w.underWay, c)
		list, w.loose = c.Records, false
	case len(w.marks) > 0:
		list, w.loose = slices.Clone(w.marks), true
	}
	if w.marks = w.marks[:0]; cap(w.marks) > 64 {
		w.marks = nil
	}
	return list, c
}

// Done handles the end of a commit, the oldest unless the journal is closed: it is durable, or failed with err. Waiting
// senders are answered. It reports whether the journal failed for the first time.
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

// Fail ends the Writer after a panic: waiting senders get an error, except the publisher of the current mail, which
// is answered separately.
func (w *Writer) Fail() {
	if c := w.commit; c != nil {
		c.reply = nil
		w.underWay = append(w.underWay, c)
	}
	for _, c := range w.underWay {
		if c.reply != nil {
			c.reply.Failed = true
		}
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

// answer answers the waiting senders, and returns the publisher's credit.
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
	c.debt.Release()
}
