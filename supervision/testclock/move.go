package testclock

import (
	"context"
	"runtime"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
)

// move is one change of the clock, in progress.
type move struct {
	*Keeper
	ctx     context.Context
	change  *management.ClockChange
	started clock.Instant
	target  clock.Instant
	ends    time.Time // in real time
	moved   management.ClockMoved
}

// run makes the steps of the move. The clock stands still in between.
func (m *move) run() {
	if !m.settle() {
		return
	}
	if m.change.Next == 0 {
		m.runTo(m.target)
		return
	}
	for range m.change.Next {
		next := m.ClockState(m.ctx).Next.At
		if next == 0 || m.left() {
			return
		}
		to := max(clock.Instant(next)*clock.Instant(time.Millisecond), m.cfg.Clock.Now())
		if err := m.save(to, 0); err != nil {
			m.cfg.Log.Error().Err(err).Msg("the time of the test clock is not stored")
			m.moved.Stopped = management.ClockBusy
			return
		}
		if !m.runTo(to) {
			return
		}
	}
}

// runTo goes from deadline to deadline up to a time. False ends the move.
func (m *move) runTo(to clock.Instant) bool {
	for {
		next, ok := m.cfg.Clock.NextCall()
		if !ok || next > to {
			break
		}
		if !m.stepTo(next) {
			return false
		}
	}
	m.cfg.Clock.Set(to)
	return m.settle()
}

// stepTo moves the clock to a deadline and waits for all that follows. False ends the move.
func (m *move) stepTo(next clock.Instant) bool {
	if m.left() {
		return false
	}
	unsettled := m.cfg.Unsettled()
	m.cfg.Clock.Set(next)
	m.moved.Steps++
	if !m.settle() {
		return false
	}
	end := time.Now().Add(m.change.Grace)
	if m.ends.Before(end) {
		end = m.ends
	}
	for m.cfg.Unsettled() > unsettled && m.change.Grace > 0 {
		if !m.wait(end, func() bool { return m.cfg.Unsettled() <= unsettled }) {
			return !m.left()
		}
		if !m.settle() {
			return false
		}
	}
	return true
}

// left reports whether the move has to end before its target.
func (m *move) left() bool {
	switch {
	case m.moved.Stopped != "":
	case m.ctx.Err() != nil || m.stopped():
		m.moved.Stopped = management.ClockLeft
	case !time.Now().Before(m.ends):
		m.moved.Stopped = management.ClockTimedOut
	default:
		return false
	}
	return true
}

func (m *move) stopped() bool {
	select {
	case <-m.stop:
		return true
	default:
		return false
	}
}

// idleLimit is how long a move waits for a moment at which nothing is under way (CLK-8).
const idleLimit = 10 * time.Second

// settle waits until nothing is under way. False ends the move.
func (m *move) settle() bool {
	limit := time.Now().Add(idleLimit)
	busy := m.ends.After(limit)
	if !busy {
		limit = m.ends
	}
	if m.moved.Settled = m.wait(limit, m.quiet); m.moved.Settled {
		return true
	}
	m.moved.Warnings = append(m.moved.Warnings, m.cfg.Busy())
	if !m.left() {
		m.moved.Stopped = management.ClockTimedOut
		if busy {
			m.moved.Stopped = management.ClockBusy
		}
	}
	return false
}

// quiet reports whether nothing is under way: no turn before, and none since, and no work outside of the actors at a moment in between.
func (m *move) quiet() bool {
	turns, quiet := m.cfg.Quiet()
	if !quiet || m.cfg.Works.Open() != 0 || m.cfg.Outside() {
		return false
	}
	again, quiet := m.cfg.Quiet()
	return quiet && again == turns
}

// Between two looks, wait lets other goroutines run, and after some looks it sleeps: most steps take some µs, but one with a sync of the
// disk a millisecond.
const (
	looks = 500
	nap   = 50 * time.Microsecond
)

// wait waits until is returns true; false if that takes too long or the client leaves.
func (m *move) wait(limit time.Time, is func() bool) bool {
	for n := 0; ; n++ {
		if is() {
			return true
		}
		if n < looks {
			runtime.Gosched()
			continue
		}
		if !time.Now().Before(limit) || m.ctx.Err() != nil || m.stopped() {
			return false
		}
		time.Sleep(nap)
	}
}
