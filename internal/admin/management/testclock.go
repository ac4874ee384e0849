package management

import (
	"context"
	"errors"
	"time"
)

// TestClock is the part of the broker that moves its clock, if that is a test clock (CLK-1).
type TestClock interface {
	// ClockState describes the broker's clock, also if that is no test clock. Next is left out if the queues do not answer in time.
	ClockState(ctx context.Context) ClockState
	// ChangeClock changes the clock and returns when everything that became due has been carried out, with all its consequences (CLK-5, CLK-6).
	// It ends early as in CLK-8. Errors: ErrNoTestClock, a ClockError for a change that is not possible, ctx's while another change is made,
	// and one of storing the time; then nothing has moved.
	ChangeClock(ctx context.Context, c ClockChange) (ClockMoved, error)
}

// ErrNoTestClock: the broker's clock is the machine's (CLK-12).
var ErrNoTestClock = errors.New("this broker has no test clock: start it with --test-clock")

// ClockError is the reason why a change of a test clock is refused.
type ClockError string

// Error implements error.
func (e ClockError) Error() string { return string(e) }

// ClockState is the state of the broker's clock.
type ClockState struct {
	Test  bool
	Time  int64     // the broker's time in ms
	Real  time.Time // the machine's
	Speed float64   // 0: it stands still; 1 without a test clock
	// Next is the next deadline that the queues report or, with an empty name, the next time at which the broker has something else to do;
	// At is 0 if there is none.
	Next Deadline
}

// ClockChange is one change of a test clock: one of the pointers is set, or Next.
type ClockChange struct {
	By    *time.Duration // forwards
	To    *time.Time
	Next  int      // deadlines as in ClockState, each with all that is due at its time
	Speed *float64 // from now on; 0 stands still
	// Grace is how long in real time each step waits until consumers have settled what it delivered (CLK-7), Timeout how long the whole
	// change may take.
	Grace, Timeout time.Duration
}

// Defaults and limits of ClockChange.
const (
	ClockGrace      = 200 * time.Millisecond
	MaxClockGrace   = 10 * time.Second
	ClockTimeout    = time.Minute
	MaxClockTimeout = 10 * time.Minute
	MaxClockSpeed   = 1_000_000
	MinClockSpeed   = 0.001
	// MaxClockMove is how far a change may move the clock: ten years.
	MaxClockMove = 3653 * 24 * time.Hour
)

// Reasons why a move ended early.
const (
	ClockTimedOut = "timeout"
	ClockBusy     = "busy"
	ClockLeft     = "client_gone"
)

// ClockMoved is the result of a change.
type ClockMoved struct {
	Time    int64  // the broker's time in ms after it
	Moved   int64  // ms
	Steps   int    // times at which the broker had something to do
	Stopped string // why the move ended before its target, "" if it did not
	Settled bool   // nothing was under way at the end
	Counts  ClockCounts
	// Warnings name what a move does not wait for.
	Warnings []string
}

// ClockCounts are the differences of the broker's counters in a change; what clients did meanwhile is included.
type ClockCounts struct {
	Expired, DeadLettered, Released, LeasesEnded, LocksReturned, SchedulesFired, Delivered, Settled int64
}

// Minus returns the differences to earlier counters.
func (c ClockCounts) Minus(o ClockCounts) ClockCounts {
	return ClockCounts{
		c.Expired - o.Expired, c.DeadLettered - o.DeadLettered, c.Released - o.Released, c.LeasesEnded - o.LeasesEnded,
		c.LocksReturned - o.LocksReturned, c.SchedulesFired - o.SchedulesFired, c.Delivered - o.Delivered, c.Settled - o.Settled,
	}
}
