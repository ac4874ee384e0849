package queue

import (
	"candlemark/actors/queue/backlog"
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

// paging is what the queue knows of contents on their way.
type paging struct {
	// idle and busy are windowIdle and windowBusy; tests have others.
	idle, busy int64

	at       backlog.Handle // where a trim goes on, 0 for none
	asked    bool           // by Trim
	settled  int64          // bytes of contents that were left by the last trim
	spilling int64          // bytes of transient messages on their way to the journal
	spilled  bool           // there was one, ever
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
// there before, or came back.
func (s *state) trim() (more bool) {
	p := &s.paging
	contents := s.messages.Contents()
	p.settled = min(p.settled, contents)
	if !s.crowded() {
		p.at, p.asked = 0, false
		return false
	}
	if p.at == 0 && (p.asked || contents > p.settled+max(s.window(), looseEntry*int64(s.messages.Len()))) {
		p.at = 1
	}
	if p.at == 0 || p.spilling > spillLimit {
		return false
	}
	p.at = s.messages.Trim(p.at, trimLimit, s.messages.Window(s.window()), func(h backlog.Handle) bool { return s.pageOut(&s.messages, h) })
	if p.at == 0 {
		p.settled, p.asked = s.messages.Contents(), false
	}
	return p.at != 0 && p.spilling <= spillLimit
}

// pageOut pages a message out if the journal has it, or sees to that. It reports
// whether there is room for more.
func (s *state) pageOut(b *backlog.Backlog, h backlog.Handle) bool {
	if b.Place(h) != 0 {
		b.PageOut(h)
	} else if b.Entry(h).Marks&backlog.Stored == 0 {
		s.spill(b, h)
	}
	return s.paging.spilling <= spillLimit
}

// spill writes down a message that is not to survive, so that its content can
// leave memory.
func (s *state) spill(b *backlog.Backlog, h backlog.Handle) {
	if s.broken != nil || s.phase >= draining {
		return
	}
	r := b.Get(h)
	s.write(store.Spill, b, h, &r)
	s.out.commit.spilled += int64(len(r.Header) + len(r.Body))
	s.paging.spilling += int64(len(r.Header) + len(r.Body))
	s.paging.spilled = true
}

// trimScheduled lets the contents of all scheduled messages leave memory, a turn's
// worth at a time: their time is far enough away, and a release needs none of them.
func (s *state) trimScheduled() (more bool) {
	x, p := s.scheduled, &s.paging
	if x == nil || x.messages.Contents() == 0 || p.spilling > spillLimit {
		return false
	}
	contents := x.messages.Contents()
	x.settled = min(x.settled, contents)
	if x.trimmed == 0 && (p.asked || contents > x.settled+windowIdle) {
		x.trimmed = 1
	}
	if x.trimmed == 0 {
		return false
	}
	b := &x.messages.Backlog
	x.trimmed = b.Trim(x.trimmed, trimLimit, b.Window(0), func(h backlog.Handle) bool { return s.pageOut(b, h) })
	if x.trimmed == 0 {
		x.settled = x.messages.Contents()
	}
	return x.trimmed != 0 && p.spilling <= spillLimit
}
