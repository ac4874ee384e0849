package paging

import (
	"math"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/records"
	"candlemark/actors/queue/schedule"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// WindowIdle and WindowBusy are the bytes of the next messages to be delivered that stay in memory, without consumers
// and with some.
const (
	WindowIdle = 256 << 10
	WindowBusy = 2 << 20
)

const (
	// criticalShare is the divisor of the window when queues are so many that they still use too much memory.
	criticalShare = 32
	// spillLimit is the limit of bytes of transient messages being written to the journal, above which no trim starts.
	spillLimit = 4 << 20
	// trimLimit is the number of messages and segments that a trim examines in one turn.
	trimLimit = 4096
	// looseEntry is the growth, in bytes per message, after which a queue is trimmed again without a request.
	looseEntry = 16
)

// Overhead is the assumed size of a message without its body, in bytes.
const Overhead = 64

// Pager moves contents to the journal and back. See New.
type Pager struct {
	// Idle and Busy are WindowIdle and WindowBusy; tests set others.
	Idle, Busy int64
	// Asked: a trim was requested, and starts at once.
	Asked bool
	// Apart is how far real time, in which pauses are measured, is ahead of the time of turns (CLK-4).
	Apart     clock.Instant
	trimming  backlog.Trimming
	readAhead int64 // approximate bytes of messages read ahead of delivery
	until     int64 // real ms until which nothing is read, 0 for none
	// Contents to be read, and their messages.
	refs    []store.Ref
	handles []backlog.Handle
	ordered int64 // approximate bytes of these
	reading int64 // approximate bytes of contents requested and not yet loaded
}

// New returns the Pager of an empty queue.
func New() Pager { return Pager{Idle: WindowIdle, Busy: WindowBusy} }

// Memory holds a queue's messages and the state of memory.
type Memory struct {
	Messages  *backlog.Backlog
	Scheduled *schedule.Schedule // nil for none
	Journal   *records.Writer
	OverLimit bool // the budget of all queues is exceeded
	Critical  bool // by far
	Consumed  bool // the queue has consumers
}

// window returns the number of bytes of messages that stay in memory.
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

// Transit returns the number of bytes of messages that may be on their way to other queues at a time: while memory is
// tight, no more than what stays in memory of the next messages, but at least the smallest window.
func (p *Pager) Transit(m Memory) int64 {
	if !m.OverLimit {
		return math.MaxInt64
	}
	return max(p.window(m), WindowIdle/criticalShare)
}

// Crowded reports whether contents have to be paged out.
func (p *Pager) Crowded(m Memory) bool { return m.OverLimit && m.Messages.Contents() > p.window(m) }

// Clear is called when the queue was emptied.
func (p *Pager) Clear() { p.trimming.At, p.readAhead = 0, 0 }

// Trim pages contents out, up to a turn's limit, and reports whether more are left. Messages that arrive while memory
// is tight are paged out when the journal has them (Written); a trim is for earlier and requeued ones. All scheduled
// messages are paged out: they are due much later, and a release does not need the content.
func (p *Pager) Trim(m Memory) (more bool) {
	if x := m.Scheduled; x != nil {
		more = p.trim(m, &x.Trimming, &x.Messages.Backlog, 0, WindowIdle)
	}
	window := p.window(m)
	more = p.trim(m, &p.trimming, m.Messages, window, max(window, looseEntry*int64(m.Messages.Len()))) || more
	p.Asked = p.Asked && p.trimming.At != 0
	return more
}

// trim continues a trim of b, which keeps window bytes in memory. It starts one if requested, or if the contents have
// grown by loose bytes since the last.
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

// pageOut pages a message out if the journal has it, otherwise spills it. It reports whether more may be spilled.
func pageOut(m Memory, b *backlog.Backlog, h backlog.Handle) bool {
	if b.Place(h) != 0 {
		b.PageOut(h)
	} else if b.Entry(h).Marks&backlog.Written == 0 {
		m.Journal.Spill(b, h, b != m.Messages)
	}
	return m.Journal.Spilling() <= spillLimit
}

// Written stores the places of a commit's messages in the journal. While memory is tight it pages out messages not
// needed soon, and all scheduled ones.
func (p *Pager) Written(m Memory, c *records.Commit) {
	crowded := p.Crowded(m)
	var w backlog.Window
	if crowded {
		w = m.Messages.Window(p.window(m))
	}
	c.Messages(func(h backlog.Handle, r *store.Record) {
		if x := m.Scheduled; r.Due != 0 && x != nil && x.Messages.Backlog.Has(h, r.First) {
			if x.Messages.Backlog.SetPlace(h, uint64(r.Position)); m.OverLimit && !x.Messages.Backlog.IsPaged(h) {
				x.Messages.Backlog.PageOut(h)
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
