package testclock

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Config configures a Keeper.
type Config struct {
	Clock *clock.Clock
	// File is where the time is kept; "" for nowhere.
	File string
	// Quiet reports whether no turn of an actor waits or runs, and how many were scheduled so far.
	Quiet func() (turns uint64, quiet bool)
	Works *activity.Works
	// Outside reports whether something outside of the actors is under way that Works does not count.
	Outside func() bool
	// Unsettled returns the number of deliveries that consumers have not settled so far, even if the broker has taken them back. Counts returns
	// the broker's counters.
	Unsettled func() int64
	Counts    func() management.ClockCounts
	// Next returns the next deadline that the queues report.
	Next func(ctx context.Context) (management.Deadline, error)
	// Busy names what is under way.
	Busy func() string
	// Down names queues that do not work, whose deadlines no move meets.
	Down   func() []string
	Events *events.Hub
	Log    zerolog.Logger
}

// Keeper moves a clock. It implements management.TestClock.
type Keeper struct {
	cfg    Config
	turn   chan struct{} // held to change the clock
	stop   chan struct{} // closed by End
	ending sync.Once
	saver  sync.WaitGroup
	pause  func() // ends the saver; nil while the clock stands still
}

// Warning is the text in the log of a broker with a test clock (CLK-11).
const Warning = "TEST CLOCK: times of this broker are not real"

// New returns the Keeper of a clock, which may be the machine's: that is never moved.
func New(cfg Config) *Keeper {
	return &Keeper{cfg: cfg, turn: make(chan struct{}, 1), stop: make(chan struct{})}
}

// ClockState implements management.TestClock.
func (k *Keeper) ClockState(ctx context.Context) management.ClockState {
	c := k.cfg.Clock
	s := management.ClockState{Test: c.Manual(), Time: c.Wall(), Real: time.UnixMilli(c.Real().Wall()), Speed: 1}
	known, err := k.cfg.Next(ctx)
	if !s.Test {
		s.Next = known
		return s
	}
	s.Speed = c.Speed()
	if s.Next = known; err != nil || known.At == 0 {
		if next, ok := c.NextCall(); ok {
			s.Next = management.Deadline{At: next.Floor()}
		}
	}
	return s
}

// ChangeClock implements management.TestClock.
func (k *Keeper) ChangeClock(ctx context.Context, c management.ClockChange) (moved management.ClockMoved, err error) {
	if !k.cfg.Clock.Manual() {
		return moved, management.ErrNoTestClock
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return moved, ctx.Err()
	case <-k.stop:
		return moved, management.ErrBusy
	}
	m := &move{Keeper: k, ctx: ctx, change: &c, started: k.cfg.Clock.Now(), ends: time.Now().Add(c.Timeout)}
	if err := m.aim(); err != nil {
		return moved, err
	}
	speed := k.cfg.Clock.Speed()
	if err := k.setPace(0, m.target); err != nil {
		return moved, err
	}
	before := k.cfg.Counts()
	m.run()
	if c.Speed != nil {
		speed = *c.Speed
	}
	if err := k.setPace(speed, 0); err != nil {
		return moved, err
	}
	moved = m.moved
	moved.Warnings = append(moved.Warnings, k.cfg.Down()...)
	moved.Time = k.cfg.Clock.Wall()
	moved.Moved = moved.Time - m.started.Floor()
	moved.Counts = k.cfg.Counts().Minus(before)
	k.report(ctx, &moved, speed)
	return moved, nil
}

// report logs a change, and publishes an event for it.
func (k *Keeper) report(ctx context.Context, m *management.ClockMoved, speed float64) {
	now := time.UnixMilli(m.Time).UTC().Format("2006-01-02T15:04:05.000Z")
	k.cfg.Log.Warn().Float64("speed", speed).Int64("moved_ms", m.Moved).Int("steps", m.Steps).Str("stopped", m.Stopped).Msg(Warning)
	by := events.OriginOf(ctx)
	k.cfg.Events.Publish(by.Asked(), func() *events.Event {
		return &events.Event{Name: "clock.moved", By: by, Fields: protocol.Table{
			{Key: "time", Value: now}, {Key: "moved_ms", Value: m.Moved}, {Key: "steps", Value: int64(m.Steps)}, {Key: "speed", Value: speed},
		}}
	})
}

// saveEvery is how often the file is written while time passes; ahead is how long, in real time, a written time suffices.
const (
	saveEvery = time.Second
	ahead     = 3 * saveEvery
)

// setPace makes time pass at a speed, 0 to stand still, and writes a time that the clock does not pass before the next write:
// at least the given one.
func (k *Keeper) setPace(speed float64, least clock.Instant) error {
	if k.pause != nil {
		k.pause()
		k.pause = nil
	}
	if speed == 0 {
		k.cfg.Clock.Run(0)
		return k.save(max(least, k.cfg.Clock.Now()), 0)
	}
	if err := k.save(k.later(speed), speed); err != nil {
		return err
	}
	k.cfg.Clock.Run(speed)
	end := make(chan struct{})
	k.saver.Go(func() { k.keep(speed, end) })
	k.pause = func() {
		close(end)
		k.saver.Wait()
	}
	return nil
}

// later returns the time that the clock shows after ahead.
func (k *Keeper) later(speed float64) clock.Instant {
	now := k.cfg.Clock.Now()
	if by := speed * float64(ahead); by < float64(math.MaxInt64-int64(now)) {
		return now + clock.Instant(by)
	}
	return math.MaxInt64
}

// keep writes the time while it passes, until end is closed.
func (k *Keeper) keep(speed float64, end chan struct{}) {
	ticks := time.NewTicker(saveEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if err := k.save(k.later(speed), speed); err != nil {
				k.cfg.Log.Error().Err(err).Msg("the time of the test clock is not stored")
			}
		case <-end:
			return
		case <-k.stop:
			return
		}
	}
}

// Begin makes time pass at a speed when the broker has started, and says so in the log.
func (k *Keeper) Begin(speed float64) error {
	if !k.cfg.Clock.Manual() {
		return nil
	}
	k.cfg.Log.Warn().Float64("speed", speed).Msg(Warning)
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	return k.setPace(speed, 0)
}

// End ends the move that is being made, after its step, and waits for it. No other one follows.
func (k *Keeper) End() {
	k.ending.Do(func() {
		close(k.stop)
		k.turn <- struct{}{} // for ever
		if k.cfg.Clock.Manual() {
			if err := k.setPace(0, 0); err != nil {
				k.cfg.Log.Error().Err(err).Msg("the time of the test clock is not stored")
			}
		}
	})
}

// aim decides about the target of a move.
func (m *move) aim() error {
	c := m.change
	if c.Next > 0 && m.cfg.Clock.Speed() != 0 {
		return management.ClockError("the clock runs: freeze it first")
	}
	var by time.Duration
	switch {
	case c.By != nil:
		by = *c.By
	case c.To != nil:
		const farthest = math.MaxInt64 / int64(time.Second)
		if c.To.Unix() >= farthest {
			return errEnd
		}
		by = time.Duration(c.To.UnixNano() - int64(m.started))
		if c.To.UnixMilli() == m.started.Floor() {
			by = 0
		}
	}
	switch {
	case by < 0:
		return management.ClockError(fmt.Sprintf("the clock cannot go back: it shows %s", time.Unix(0, int64(m.started)).UTC().Format("2006-01-02T15:04:05.000Z")))
	case by > management.MaxClockMove:
		return management.ClockError("a move is at most 10 years")
	case int64(m.started) > math.MaxInt64-int64(by):
		return errEnd
	}
	m.target = m.started + clock.Instant(by)
	return nil
}

const errEnd = management.ClockError("the clock ends in 2262")
