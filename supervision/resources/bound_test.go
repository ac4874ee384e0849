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
