package amqp10

import (
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/measure/clock"
	"candlemark/supervision"
	"candlemark/supervision/testclock"
)

// TestClockOpen_CLK11: the properties of open tell whether the broker has a test clock.
func TestClockOpen_CLK11(t *testing.T) {
	for _, manual := range []bool{false, true} {
		testkit.Run(t, func(cfg *supervision.Config) {
			if manual {
				cfg.Clock = clock.NewManual(time.Now())
			}
		}, func(b *testkit.Bubble) {
			b.Log.Allow(testclock.Warning)
			c := connect(b, nil)
			if is, has := c.conn.Properties()["test-clock"]; has != manual || manual && is != true {
				t.Errorf("manual %v: %v", manual, c.conn.Properties())
			}
			_ = c.conn.Close()
		})
	}
}
