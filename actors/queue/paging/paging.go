package paging

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/records"
	"candlemark/actors/queue/schedule"
	"candlemark/internal/store"
)

// WindowIdle and WindowBusy are how many bytes of messages that are soon to be delivered stay in memory, without
// consumers and with some.
const (
	WindowIdle = 256 << 10
	WindowBusy = 2 << 20
)

const (
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

// Overhead is the assumed size of a message besides its body, in bytes.
const Overhead = 64

// Pager moves contents to the journal and back. See New.
type Pager struct {
	// Idle and Busy are WindowIdle and WindowBusy; tests have others.
	Idle, Busy int64
	// Asked for a trim: so is the first, and each that is to begin at once.
	Asked    bool
	trimming backlog.Trimming
	runway   int64 // about how many bytes are in memory ahead of delivery
	until    int64 // wall ms before which nothing is read, 0 for none
	// What is to be read, for which messages.
	refs    []store.Ref
	handles []backlog.Handle
}

// New makes the Pager of an empty queue.
func New() Pager { return Pager{Idle: WindowIdle, Busy: WindowBusy} }

// Memory says which messages a queue holds, and how tight memory is.
type Memory struct {
	Messages  *backlog.Backlog
	Scheduled *schedule.Schedule // nil for none
	Journal   *records.Writer
	OverLimit bool // the budget of all queues is used up
	Critical  bool // by far
	Consumed  bool // the queue has consumers
}

// window is how many bytes of messages stay in memory.
func (p *Pager) window(m Memory) int64 {
	bytes := p.Idle
	if m.Consumed {
		bytes = p.Busy
	}
	if m.Critical {
		bytes /= criticalShare
	}
	return bytes
}

// Crowded reports whether contents are to leave memory.
func (p *Pager) Crowded(m Memory) bool { return m.OverLimit && m.Messages.Contents() > p.window(m) }

// Clear is called when the queue was emptied.
func (p *Pager) Clear() { p.trimming.At, p.runway = 0, 0 }

// Trim lets contents leave memory, a turn's worth at a time, and reports whether there is more. What arrives while memory
// is tight leaves when the journal has it (Written); a trim is for what was there before, or came back. Of what is
// scheduled everything leaves: its time is far enough away, and a release needs none of it.
func (p *Pager) Trim(m Memory) (more bool) {
	if x := m.Scheduled; x != nil {
		more = p.trim(m, &x.Trimming, &x.Messages.Backlog, 0, WindowIdle)
	}
	window := p.window(m)
	more = p.trim(m, &p.trimming, m.Messages, window, max(window, looseEntry*int64(m.Messages.Len()))) || more
	p.Asked = p.Asked && p.trimming.At != 0
	return more
}

// trim goes on with a trim of b, of which window bytes stay. One begins when it is
// asked for, or loose bytes have come since the last.
func (p *Pager) trim(m Memory, t *backlog.Trimming, b *backlog.Backlog, window, loose int64) (more bool) {
	contents := b.Contents()
	t.Left = min(t.Left, contents)
	if contents <= window {
		t.At = 0
		return false
	}
	if t.At == 0 && (p.Asked || contents > t.Left+loose) {
		t.At = 1
	}
	if t.At == 0 || m.Journal.Spilling() > spillLimit {
		return false
	}
	if t.At = b.Trim(t.At, trimLimit, b.Window(window), func(h backlog.Handle) bool { return pageOut(m, b, h) }); t.At == 0 {
		t.Left = b.Contents()
	}
	return t.At != 0 && m.Journal.Spilling() <= spillLimit
}

// pageOut pages a message out if the journal has it, or sees to that. It reports
// whether there is room for more.
func pageOut(m Memory, b *backlog.Backlog, h backlog.Handle) bool {
	if b.Place(h) != 0 {
		b.PageOut(h)
	} else if b.Entry(h).Marks&backlog.Stored == 0 {
		m.Journal.Spill(b, h, b != m.Messages)
	}
	return m.Journal.Spilling() <= spillLimit
}

// Written notes where the messages of a commit are in the journal. Those that need not be in memory leave it while that is
// tight: all that are scheduled, first of all.
func (p *Pager) Written(m Memory, c *records.Commit) {
	crowded := p.Crowded(m)
	var w backlog.Window
	if crowded {
		w = m.Messages.Window(p.window(m))
	}
	c.Messages(func(h backlog.Handle, r *store.Record) {
		if x := m.Scheduled; r.Due != 0 && x != nil && x.Messages.Has(h, r.First) {
			if x.Messages.SetPlace(h, uint64(r.Position)); m.OverLimit && !x.Messages.IsPaged(h) {
				x.Messages.PageOut(h)
			}
			return
		}
		if !m.Messages.Has(h, r.First) || m.Journal.PuttingAgain(r.First) {
			return
		}
		m.Messages.SetPlace(h, uint64(r.Position))
		if crowded && !m.Messages.Within(h, w) {
			m.Messages.PageOut(h)
		}
	})
}
