package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/records"
	"candlemark/internal/store"
)

// While memory is tight (Config.Budget) the contents of messages leave it for the
// journal, but for those that are soon to be delivered.
const (
	// windowIdle and windowBusy are how many bytes of those stay in memory, without
	// consumers and with some.
	windowIdle = 256 << 10
	windowBusy = 2 << 20
	// criticalShare is by how much less that is when there are so many queues that they
	// hold too much all the same.
	criticalShare = 32
	// spillLimit bounds the bytes of transient messages on their way to the journal
	// that a trim begins with.
	spillLimit = 4 << 20
	// trimLimit is how many messages and segments a trim looks at in one turn.
	trimLimit = 4096
	// looseEntry is by how many bytes for each of its messages a queue grows before
	// it is trimmed again without being asked.
	looseEntry = 16
)

// paging holds the state of contents on their way to and from the journal.
type paging struct {
	// idle and busy are windowIdle and windowBusy; tests have others.
	idle, busy int64

	trimming backlog.Trimming
	asked    bool // for a trim, by Trim
	reading
}

// window is how many bytes of messages stay in memory.
func (s *state) window() int64 {
	bytes := s.paging.idle
	if s.consumers.Len() > 0 {
		bytes = s.paging.busy
	}
	if s.critical {
		bytes /= criticalShare
	}
	return bytes
}

// crowded reports whether contents are to leave memory.
func (s *state) crowded() bool { return s.overLimit && s.messages.Contents() > s.window() }

// trim lets contents leave memory, a turn's worth at a time. What arrives while
// memory is tight leaves when the journal has it (recordPositions); a trim is for what was
// there before, or came back. Of what is scheduled everything leaves: its time is far enough
// away, and a release needs none of it.
func (s *state) trim() (more bool) {
	p := &s.paging
	if x := s.scheduled; x != nil {
		more = s.trimStep(&x.Trimming, &x.Messages.Backlog, 0, windowIdle)
	}
	window := s.window()
	more = s.trimStep(&p.trimming, &s.messages, window, max(window, looseEntry*int64(s.messages.Len()))) || more
	p.asked = p.asked && p.trimming.At != 0
	return more
}

// trimStep goes on with a trim of b, of which window bytes stay. One begins when it is
// asked for, or loose bytes have come since the last.
func (s *state) trimStep(t *backlog.Trimming, b *backlog.Backlog, window, loose int64) (more bool) {
	p := &s.paging
	contents := b.Contents()
	t.Left = min(t.Left, contents)
	if contents <= window {
		t.At = 0
		return false
	}
	if t.At == 0 && (p.asked || contents > t.Left+loose) {
		t.At = 1
	}
	if t.At == 0 || s.journal.Spilling() > spillLimit {
		return false
	}
	if t.At = b.Trim(t.At, trimLimit, b.Window(window), func(h backlog.Handle) bool { return s.pageOut(b, h) }); t.At == 0 {
		t.Left = b.Contents()
	}
	return t.At != 0 && s.journal.Spilling() <= spillLimit
}

// pageOut pages a message out if the journal has it, or sees to that. It reports
// whether there is room for more.
func (s *state) pageOut(b *backlog.Backlog, h backlog.Handle) bool {
	if b.Place(h) != 0 {
		b.PageOut(h)
	} else if b.Entry(h).Marks&backlog.Stored == 0 {
		s.journal.Spill(b, h, b != &s.messages)
	}
	return s.journal.Spilling() <= spillLimit
}

// recordPositions notes where the messages of a commit are. Those that need not be in
// memory leave it while that is tight: all that are scheduled, first of all.
func (s *state) recordPositions(c *records.Commit) {
	crowded := s.crowded()
	var w backlog.Window
	if crowded {
		w = s.messages.Window(s.window())
	}
	c.Messages(func(h backlog.Handle, r *store.Record) {
		if x := s.scheduled; r.Due != 0 && x != nil && x.Messages.Has(h, r.First) {
			if x.Messages.SetPlace(h, uint64(r.Position)); s.overLimit && !x.Messages.IsPaged(h) {
				x.Messages.PageOut(h)
			}
			return
		}
		if !s.messages.Has(h, r.First) {
			return
		}
		s.messages.SetPlace(h, uint64(r.Position))
		if crowded && !s.messages.Within(h, w) {
			s.messages.PageOut(h)
		}
	})
}

// committed: what was handed over is durable, or lost.
func (s *state) committed(m appendDone) {
	if s.journal.Done(m.commit, m.err) {
		s.out.rarely().broke = true
	}
	if m.err == nil {
		s.recordPositions(m.commit)
	}
	m.commit.Recycle()
}
