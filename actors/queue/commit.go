package queue

import (
	"slices"
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
	holes   int              // records of messages that left in the same turn
	spilled int64            // bytes of Spill
	// What the publisher is told when they are durable, nil if nobody waits.
	to    mail.Address
	reply *mail.EnqueueReply
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
	c.chunk.Release()
	c.chunk = nil
	c.debt.Settle()
}

// write adds the record of a message to the turn's commit.
func (s *state) write(kind store.Kind, h backlog.Handle, r *backlog.Record) {
	c := s.out.commit
	if c == nil {
		c = commits.Get().(*commit)
		s.out.commit = c
	}
	s.messages.Entry(h).Marks |= backlog.Stored
	c.handles = append(c.handles, h)
	c.records = append(c.records, store.Record{
		Kind: kind, Time: r.Enqueued, First: r.Seq, Last: r.Seq,
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body, Overlay: r.Overlay.Append(nil),
		Deadline: r.Deadline, TTL: r.TTL, Priority: r.Priority,
	})
}

// unwrite takes the record of a message out of the turn's commit, if it is there.
func (s *state) unwrite(seq uint64) bool {
	c := s.out.commit
	if c == nil || seq < c.records[0].First {
		return false
	}
	i, found := slices.BinarySearchFunc(c.records, seq, func(r store.Record, seq uint64) int {
		switch {
		case r.First < seq:
			return -1
		case r.First > seq:
			return 1
		}
		return 0
	})
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
		if len(c.records) == 0 { // nothing is left to wait for
			s.answerCommit(c, false)
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
	n := 0
	for i := range c.records {
		if c.records[i].Kind != 0 {
			c.records[n], c.handles[n] = c.records[i], c.handles[i]
			n++
		}
	}
	clear(c.records[n:])
	c.records, c.handles, c.holes = c.records[:n], c.handles[:n], 0
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
		s.place(c)
	} else if s.broken == nil {
		s.broken, s.out.broke = m.err, true
	}
	c.recycle()
	if s.phase == live && s.paging.at != 0 && s.paging.spilling <= spillLimit {
		s.out.again = true
	}
}

// place notes where the messages of a commit are. Those that need not be in
// memory leave it while that is tight.
func (s *state) place(c *commit) {
	crowded := s.crowded()
	var w backlog.Window
	if crowded {
		w = s.messages.Window(s.window())
	}
	for i, h := range c.handles {
		r := &c.records[i]
		if !s.messages.Has(h, r.First) {
			continue
		}
		s.messages.SetPlace(h, uint64(r.Position))
		if crowded && !s.messages.Within(h, w) {
			s.messages.PageOut(h)
		}
	}
}
