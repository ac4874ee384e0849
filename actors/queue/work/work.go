package work

import (
	"candlemark/actors/mail"
	"candlemark/internal/clock"
)

// Work is a command's work.
type Work struct {
	// Step does a turn's worth and reports whether that was the last.
	Step func(now clock.Instant) (done bool)
	// End is called when it is done, nil for nothing.
	End func(now clock.Instant)
	// Asked is who is to be told if the queue fails meanwhile; nil if nobody waits.
	Asked mail.Answerable
	// Expires: messages come due meanwhile as ever.
	Expires bool
}

// Pending is the work that goes on in further turns, and the mail that waits for it or for something else. The zero value
// has none.
type Pending struct {
	work    *Work
	parked  []any
	resumed bool // the mail in hand was parked
}

// Start does a first step, and all of the work if that is enough.
func (p *Pending) Start(w *Work, now clock.Instant) {
	if !w.Step(now) {
		p.Later(w)
	} else if w.End != nil {
		w.End(now)
	}
}

// Later has the work begin in the next turn. There is none yet.
func (p *Pending) Later(w *Work) {
	if p.work != nil {
		panic("work in the place of work")
	}
	p.work = w
}

// Work is the work that goes on, nil for none.
func (p *Pending) Work() *Work { return p.work }

// Step goes on with the work, and reports whether it is done.
func (p *Pending) Step(now clock.Instant) (done bool) {
	w := p.work
	if done = w.Step(now); done {
		if p.work = nil; w.End != nil {
			w.End(now)
		}
	}
	return done
}

// Waits reports whether mail has to wait for the work, or for mail that waits already.
func (p *Pending) Waits() bool { return p.work != nil || len(p.parked) > 0 && !p.resumed }

// Park has mail wait, in order.
func (p *Pending) Park(m any) { p.parked = append(p.parked, m) }

// Next is the next mail that waited, if there is no work. It is to be handled next.
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

// All takes all mail that waits.
func (p *Pending) All() []any {
	all := p.parked
	p.parked = nil
	return all
}
