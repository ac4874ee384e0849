package resources

import (
	"testing"

	"candlemark/internal/admin/config"
	"candlemark/internal/measure/clock"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// idle is a Meter of a process that uses nothing.
type idle struct{ Meter }

func (idle) Memory() int64       { return 1 }
func (idle) Total() int64        { return 1 << 30 }
func (idle) Disk() (int64, bool) { return 1 << 40, true }
func (idle) Reserved() int64     { return 0 }

func (idle) Collections() uint64 { return 0 }
func (idle) Bound(int64)         {}

// TestEntriesLeaveContentsLess_PRO22: while the entries of messages take much, queues page out their contents earlier.
func TestEntriesLeaveContentsLess_PRO22(t *testing.T) {
	const watermark = 400 << 20
	a := NewMonitor(Config{Meter: idle{}, Watermark: config.Amount{Bytes: watermark}}, Broker{
		Clock: clock.New(), Log: zerolog.Nop(), Block: func(string) {}, Trim: func() {}, Queues: func() int { return 0 },
	})
	for _, c := range []struct{ entries, want int64 }{
		{0, watermark / 2}, {watermark / 8, watermark / 2}, {watermark / 4, watermark * 3 / 8}, {watermark / 2, watermark / 4}, {watermark * 2, watermark / 4}, {0, watermark / 2},
	} {
		a.budget.Count(c.entries/budget.EntryBytes - a.budget.Messages())
		a.look()
		if got := a.budget.Limit(); got < c.want || got > c.want+budget.EntryBytes {
			t.Errorf("with %d bytes of entries the limit is %d, want %d", c.entries, got, c.want)
		}
	}
}

// used is a Meter of a process that uses some memory, in shares of 1/1000 of the machine's.
type used struct {
	idle
	memory int64
	bound  *int64
}

func (u used) Total() int64      { return 1000 << 20 }
func (u used) Memory() int64     { return u.memory << 20 }
func (u used) Bound(bytes int64) { *u.bound = bytes }

// TestSurvey_CLU36: the memory alarm of a process without a broker ends 5% below the watermark, and its garbage stays below it.
func TestSurvey_CLU36(t *testing.T) {
	short, bound := false, int64(0)
	c := Config{Watermark: config.Share(0.5)}
	for _, step := range []struct {
		memory int64
		want   bool
	}{{500, false}, {501, true}, {476, true}, {475, false}, {500, false}} {
		c.Meter = used{memory: step.memory, bound: &bound}
		if short = Survey(c, short).MemoryAlarm; short != step.want {
			t.Errorf("%d: alarm %v", step.memory, short)
		}
	}
	if Bound(c); bound != 450<<20 {
		t.Errorf("bound to %d", bound)
	}
}
