package deliveries

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// This part spreads a command that touches many messages of one queue over several turns. Later mail waits for the
// end of the command, so that no half-finished state is visible.
//
// Owns: the work and the waiting mail.
//
// Deadlines: none; while there is work, the queue takes its next turn at once. A restart loses both; senders that wait
// get an answer.

// LongCommand is a command in progress.
type LongCommand struct {
	// Step does as much as fits into a turn and reports whether it is done.
	Step func(now clock.Instant) (done bool)
	// End is called after the last Step; may be nil.
	End func(now clock.Instant)
	// Asked is the command to answer if the queue fails during the work; nil if no answer is expected.
	Asked mail.Answerable
	// Expires: messages still expire while it is in progress.
	Expires bool
}

// Pending holds the work in progress, and the mail that waits for it or for something else. The zero value is empty.
type Pending struct {
	work    *LongCommand
	parked  []any
	resumed bool // the current mail was parked
}

// Start runs the first step; if that does not finish it, the work continues in further turns.
func (p *Pending) Start(w *LongCommand, now clock.Instant) {
	if !w.Step(now) {
		p.Later(w)
	} else if w.End != nil {
		w.End(now)
	}
}

// Later starts the work in the next turn. No work may be in progress.
func (p *Pending) Later(w *LongCommand) {
	if p.work != nil {
		panic("work in the place of work")
	}
	p.work = w
}

// Work returns the work in progress, nil for none.
func (p *Pending) Work() *LongCommand { return p.work }

// Step continues the work, and reports whether it is done.
func (p *Pending) Step(now clock.Instant) (done bool) {
	w := p.work
	if done = w.Step(now); done {
		if p.work = nil; w.End != nil {
			w.End(now)
		}
	}
	return done
}

// Empty reports whether there is neither work nor waiting mail.
func (p *Pending) Empty() bool { return p.work == nil && len(p.parked) == 0 }

// Waits reports whether mail has to wait for the work, or for mail that waits already.
func (p *Pending) Waits() bool { return p.work != nil || len(p.parked) > 0 && !p.resumed }

// Park appends a mail to the waiting mail.
func (p *Pending) Park(m any) { p.parked = append(p.parked, m) }

// Next removes and returns the next waiting mail, if there is no work. It has to be handled next.
func (p *Pending) Next() (any, bool) {
	if p.work != nil || len(p.parked) == 0 {
		return nil, false
	}
	p.resumed = true
	m := p.parked[0]
	p.parked[0] = nil
	if p.parked = p.parked[1:]; len(p.parked) == 0 {
		p.parked = nil
	}
	return m, true
}

// Handled is called when a mail was handled, parked before or not.
func (p *Pending) Handled() { p.resumed = false }

// All removes and returns all waiting mail.
func (p *Pending) All() []any {
	all := p.parked
	p.parked = nil
	return all
}
