package segment

import (
	"errors"
	"sync"
	"sync/atomic"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// Replica is a journal that is filled from a log of entries, which has everything after the last Settle: its batches are synced by checkpoints only,
// and a crash may tear the log anywhere behind the last one (CLU-3).
type Replica struct{ journal *Journal }

// OpenReplica opens the journal of a replica. It is like Open, except that nothing can be taken.
func OpenReplica(fs vfs.FS, dir string, o Options) (*Replica, recovery.Report, error) {
	o.replica = true
	j, report, err := Open(fs, dir, o)
	if err != nil {
		return nil, report, err
	}
	j.recovered.messages = nil
	return &Replica{j}, report, nil
}

// Entry is applied by a replica as one: after a crash the journal has all of it or nothing.
type Entry struct {
	Number uint64 // higher than that of the entry before it
	// Begin: another broker uses the journal from here on, so that spilled messages are forgotten, as by a restart.
	Begin bool
	Parts []Part
}

// Part is one Append of an entry.
type Part struct {
	Queue   store.QueueID
	Records []store.Record
	Done    func(error) // as of Append, except that the records are in their file, not durable; may be nil
	err     error
}

// Apply appends an entry, without waiting.
func (r *Replica) Apply(e *Entry) { r.journal.add(pending{entry: e}) }

// Applied returns the number of the last entry that was written.
func (r *Replica) Applied() uint64 {
	r.journal.log.Lock()
	defer r.journal.log.Unlock()
	return r.journal.log.index.Applied
}

// Read is as in store.Journal.
func (r *Replica) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	r.journal.Read(q, want, done)
}

// Recall is as in store.Journal.
func (r *Replica) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	r.journal.Recall(q, done)
}

// Names is as in store.Journal.
func (r *Replica) Names() map[store.QueueID]store.Name { return r.journal.Names() }

// Stats are the figures of the journal.
func (r *Replica) Stats() Stats { return r.journal.Stats() }

// Close is as in store.Journal.
func (r *Replica) Close() error { return r.journal.Close() }

// Survey calls done with the messages that the journal has after all earlier entries, as Open finds them: spilled messages are left out. done is called from a goroutine of the journal.
func (r *Replica) Survey(done func(map[store.QueueID][]store.Recovered, error)) {
	var work []*recovery.Scanned
	j := r.journal
	r.ask(func() { work = j.live(j.log.index.Queues, nil, false) }, func(err error) {
		if err != nil {
			done(nil, err)
			return
		}
		parts, err := j.collect(work)
		lists := make(map[store.QueueID][]store.Recovered, len(parts))
		for id, p := range parts {
			lists[id] = join(p)
		}
		done(lists, err)
	})
}

// CutAll calls done with a snapshot of the journal after all earlier entries, with the number of the last one.
func (r *Replica) CutAll(done func(*Cut, error)) { r.cut(false, done) }

// Cut calls done with a snapshot for a broker alone, like that of Journal.Cut, after all earlier entries.
func (r *Replica) Cut(done func(*Cut, error)) { r.cut(true, done) }

func (r *Replica) cut(alone bool, done func(*Cut, error)) {
	var c *Cut
	var failed error
	r.ask(func() { c, failed = cut(r.journal, alone) }, func(err error) {
		if err = errors.Join(err, failed); err != nil && c != nil {
			c.Release()
		}
		done(c, err)
	})
}

// Await calls done when all earlier entries were answered.
func (r *Replica) Await(done func(error)) { r.ask(func() {}, done) }

// ask calls snap with the log locked after all earlier entries, and then, when they are in their files, done.
func (r *Replica) ask(snap func(), done func(error)) {
	j := r.journal
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.reads.Add(1)
	}
	j.mu.Unlock()
	if closed {
		go done(store.ErrClosed)
		return
	}
	j.add(pending{snap: snap, done: func(err error) {
		go func() {
			defer j.reads.Done()
			done(err)
		}()
	}})
}

// Settle writes a checkpoint after all earlier entries: they are durable when done is called, and survive any crash from then on.
func (r *Replica) Settle(done func(error)) {
	j := r.journal
	r.ask(func() {}, func(err error) {
		if err != nil {
			done(err)
			return
		}
		j.mu.Lock()
		ended := j.keep.asked.ended
		if !ended {
			j.keep.asked.list = append(j.keep.asked.list, done)
		}
		j.mu.Unlock()
		if ended {
			done(store.ErrClosed)
			return
		}
		wake(j.keep.kick)
		wake(j.keep.press)
	})
}

// waits reports whether somebody waits for the records.
func (p *pending) waits() bool { return p.done != nil || p.entry != nil }

func (p *pending) fail(err error) {
	p.err = err
	if p.entry != nil {
		for i := range p.entry.Parts {
			p.entry.Parts[i].err = err
		}
	}
}

// refuse answers an entry that came after Close.
func (e *Entry) refuse(err error) {
	for _, part := range e.Parts {
		if part.Done != nil {
			part.Done(err)
		}
	}
}

// size returns the most bytes that an entry takes in a batch.
func (e *Entry) size() (n int64) {
	for i := range e.Parts {
		for k := range e.Parts[i].Records {
			r := &e.Parts[i].Records[k]
			n += format.RunSize
			if r.Kind == store.Put || r.Kind == store.Spill || r.Kind == store.Named {
				n += format.PutSize(r) + markSize
			}
		}
	}
	return n
}

// markSize is how much longer a message may get by its state when its content is replaced, bytes.
const markSize = 24

// answer makes a batch answer an entry.
func (b *batch) answer(e *Entry) {
	for _, part := range e.Parts {
		if part.Done != nil {
			b.dones = append(b.dones, completion{part.Done, part.err})
		}
	}
	b.urgent = true
}

// mark ends the records of the batch with the number of the last entry. room has left room for it.
func (l *log) mark() {
	b := l.batch
	if b.records == 0 || b.marked || l.index.Applied == 0 {
		return
	}
	b.marked = true
	b.note(0, &store.Record{Kind: store.Applied, Last: l.index.Applied})
}

// asked are those who wait for a checkpoint; guarded by mu of the journal.
type asked struct {
	list  []func(error)
	ended bool // there will be none
}

// take returns them and forgets them.
func (a *asked) take() (list []func(error)) {
	list, a.list = a.list, nil
	return list
}

// end answers all, now and later, with an error: the keeper has ended.
func (a *asked) end(mu *sync.Mutex) {
	mu.Lock()
	a.ended = true
	list := a.take()
	mu.Unlock()
	for _, done := range list {
		done(store.ErrClosed)
	}
}

// unsynced is the segment of the last batch of a replica.
type unsynced struct{ seg atomic.Pointer[index.Segment] }

// wrote notes where a batch was written; the segment before it is synced.
func (u *unsynced) wrote(t *table, s *index.Segment) error {
	before := u.seg.Swap(s)
	if before == nil || before == s {
		return nil
	}
	return syncSegment(t, before.Seq)
}

// sync syncs the last segment of a checkpoint.
func (u *unsynced) sync(t *table, seq uint64) error {
	if u.seg.Load() == nil {
		return nil
	}
	return syncSegment(t, seq)
}

func syncSegment(t *table, seq uint64) error {
	s, err := t.pin(seq)
	if s == nil || err != nil {
		return err
	}
	defer t.unpin(s)
	return s.File.Sync()
}
