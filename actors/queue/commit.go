package queue

import (
	"slices"
	"sort"
	"sync"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/message"
	"candlemark/internal/store"
)

// commit is one batch of records with messages in it, from the turn that makes it
// until the journal is done with it.
type commit struct {
	// records are those of messages (Put, Spill), by ascending sequence number but
	// for what a trim spills behind them; then, once it is handed over, the others.
	records []store.Record
	handles []backlog.Handle // whose messages they are
	sorted  int              // how many of them ascend, from the first on
	holes   int              // records of messages that left in the same turn
	spilled int64            // bytes of Spill
	// What was encoded last: dead letters for one reason share what they add.
	overlay *message.Overlay
	encoded []byte
	// What the publisher is told when they are durable, nil if nobody waits.
	to    mail.Address
	reply *mail.EnqueueReply
	// Others who wait for it.
	changed []scheduledAnswer
	// The publisher's credit, which is given back then: what waits for a slow disk
	// is bounded.
	chunk *message.Chunk
	debt  message.Debt
}

var commits = sync.Pool{New: func() any { return new(commit) }}

// pooledRecords bounds the commits that are used again.
const pooledRecords = 1024

// recycle is called when the journal is done with the records.
func (c *commit) recycle() {
	if cap(c.records) > pooledRecords {
		return
	}
	clear(c.records)
	*c = commit{records: c.records[:0], handles: c.handles[:0]}
	commits.Put(c)
}

// answerCommit tells the publisher and gives its credit back.
func (s *state) answerCommit(c *commit, refused bool) {
	if c.reply != nil {
		c.reply.Refused = refused
		s.send(c.to, c.reply)
		c.reply = nil
	}
	for _, x := range c.changed {
		s.sendScheduledAnswer(x, refused)
	}
	c.changed = nil
	c.chunk.Release()
	c.chunk = nil
	c.debt.Settle()
}

// write adds the record of a message, which is in the backlog b, to the turn's commit
// and returns it.
func (s *state) write(kind store.Kind, b *backlog.Backlog, h backlog.Handle, r *backlog.Record) *store.Record {
	c := s.committing()
	b.Entry(h).Marks |= backlog.Stored
	overlay := r.Overlay
	if r.Released {
		overlay = content(r).Overlay
	}
	if overlay != c.overlay {
		c.overlay, c.encoded = overlay, overlay.Append(nil)
	}
	if n := len(c.records); n == c.sorted && (n == 0 || c.records[n-1].First < r.Seq) {
		c.sorted++
	}
	c.handles = append(c.handles, h)
	c.records = append(c.records, store.Record{
		Kind: kind, Time: r.Enqueued, First: r.Seq, Last: r.Seq,
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body, Overlay: c.encoded,
		Deadline: r.Deadline, TTL: r.TTL, Priority: r.Priority,
	})
	w := &c.records[len(c.records)-1]
	if b != &s.messages {
		w.Due = r.Deadline
	}
	return w
}

// committing is the turn's commit.
func (s *state) committing() *commit {
	if s.out.commit == nil {
		s.out.commit = commits.Get().(*commit)
	}
	return s.out.commit
}

// follow has the commit in which a message is, if it is on its way, know its new
// handle.
func (s *state) follow(seq uint64, from, to backlog.Handle) {
	for _, c := range s.commits {
		if c.follow(seq, from, to) {
			return
		}
	}
	if c := s.out.commit; c != nil {
		c.follow(seq, from, to)
	}
}

func (c *commit) follow(seq uint64, from, to backlog.Handle) bool {
	i, found := c.find(seq)
	if !found { // what was spilled stands in no order
		for i = c.sorted; i < len(c.handles) && (c.handles[i] != from || c.records[i].First != seq); i++ {
		}
		found = i < len(c.handles)
	}
	if found {
		c.handles[i] = to
	}
	return found
}

// find returns the index of a message's record, if it is among those in order. The
// journal may be about to write a record's position: nothing else of it is read.
func (c *commit) find(seq uint64) (int, bool) {
	i := sort.Search(c.sorted, func(i int) bool { return c.records[i].First >= seq })
	return i, i < c.sorted && c.records[i].First == seq
}

// unwrite takes the record of a message out of the turn's commit, if it is there.
func (s *state) unwrite(seq uint64) bool {
	c := s.out.commit
	if c == nil || len(c.handles) == 0 || seq < c.records[0].First {
		return false
	}
	i, found := c.find(seq)
	if found {
		c.records[i].Kind = 0
		c.holes++
	}
	return found
}

// mark writes down what became of a message, joined with the record before if it
// can be.
func (s *state) mark(kind store.Kind, seq uint64, why store.Reason) {
	if n := len(s.out.marks); n > 0 {
		if r := &s.out.marks[n-1]; r.Kind == kind && r.Why == why && r.Last+1 == seq {
			r.Last = seq
			return
		}
	}
	s.out.marks = append(s.out.marks, store.Record{Kind: kind, Time: s.at, First: seq, Last: seq, Why: why})
}

// handOver ends the turn's records: a commit that the journal is to answer, or
// marks for whose end nobody waits, or neither.
func (s *state) handOver() (c *commit, marks []store.Record) {
	c = s.out.commit
	s.out.commit = nil
	if c != nil && c.holes > 0 {
		c.close()
		if len(c.records) == 0 && len(c.changed) == 0 { // nothing is left to wait for
			s.answerCommit(c, false)
			s.paging.spilling -= c.spilled
			c.recycle()
			c = nil
		}
	}
	switch {
	case c != nil:
		c.records = append(c.records, s.out.marks...)
		s.commits = append(s.commits, c)
	case len(s.out.marks) > 0:
		marks = slices.Clone(s.out.marks)
	}
	if s.out.marks = s.out.marks[:0]; cap(s.out.marks) > 64 {
		s.out.marks = nil
	}
	return c, marks
}

// close fills the holes.
func (c *commit) close() {
	n, sorted := 0, c.sorted
	for i := range c.records {
		if c.records[i].Kind != 0 {
			c.records[n], c.handles[n] = c.records[i], c.handles[i]
			n++
		} else if i < c.sorted {
			sorted--
		}
	}
	clear(c.records[n:])
	c.records, c.handles, c.sorted, c.holes = c.records[:n], c.handles[:n], sorted, 0
}

// committed: a commit, the oldest unless the journal is closed, is durable, or lost. Its publisher learns which,
// and the messages learn where they are in the journal.
func (s *state) committed(m appendDone) {
	c := m.commit
	switch i := slices.Index(s.commits, c); {
	case i == 0:
		s.commits[0] = nil
		s.commits = s.commits[1:]
	case i > 0:
		s.commits = slices.Delete(s.commits, i, i+1)
	}
	s.answerCommit(c, m.err != nil)
	s.paging.spilling -= c.spilled
	if m.err == nil {
		s.recordPositions(c)
	} else if s.broken == nil {
		s.broken, s.out.rarely().broke = m.err, true
	}
	c.recycle()
}

// recordPositions notes where the messages of a commit are. Those that need not be in
// memory leave it while that is tight: all that are scheduled, first of all.
func (s *state) recordPositions(c *commit) {
	crowded := s.crowded()
	var w backlog.Window
	if crowded {
		w = s.messages.Window(s.window())
	}
	for i, h := range c.handles {
		r := &c.records[i]
		if x := s.scheduled; r.Due != 0 && x != nil && x.Messages.Has(h, r.First) {
			if x.Messages.SetPlace(h, uint64(r.Position)); s.overLimit && !x.Messages.IsPaged(h) {
				x.Messages.PageOut(h)
			}
			continue
		}
		if !s.messages.Has(h, r.First) {
			continue
		}
		s.messages.SetPlace(h, uint64(r.Position))
		if crowded && !s.messages.Within(h, w) {
			s.messages.PageOut(h)
		}
	}
}
