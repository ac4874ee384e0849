package broker

import (
	"context"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"
	journals "candlemark/internal/storage/store"
	"candlemark/supervision"
	"candlemark/supervision/testclock"
)

// stuck is a journal that answers appends when released is closed.
type stuck struct {
	journals.Journal
	released chan struct{}
}

func (j *stuck) Append(q journals.QueueID, records []journals.Record, done func(error)) {
	j.Journal.Append(q, records, func(err error) {
		go func() {
			<-j.released
			if done != nil {
				done(err)
			}
		}()
	})
}

// TestTestClockBusy_CLK8: the answer to a move that does not come to an end names the queue that it waited for, which is idle otherwise.
func TestTestClockBusy_CLK8(t *testing.T) {
	for stopped, timeout := range map[string]time.Duration{management.ClockBusy: time.Minute, management.ClockTimedOut: time.Second} {
		var released chan struct{}
		testkit.Run(t, func(cfg *supervision.Config) {
			withTestClock(cfg)
			released = make(chan struct{}) // of the bubble
			cfg.Journal = &stuck{cfg.Journal, released}
		}, func(b *testkit.Bubble) {
			defer close(released)
			b.Log.Allow(testclock.Warning)
			ch := b.Connect().Open()
			for _, name := range []string{"orders", "others"} {
				if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
					t.Fatal(err)
				}
			}
			m := testkit.Text("order")
			m.DeliveryMode = 2
			ch.Send("", "orders", m)
			by := time.Hour
			moved, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{By: &by, Timeout: timeout})
			if text := strings.Join(moved.Warnings, ""); err != nil || moved.Stopped != stopped || !strings.Contains(text, "queue 'orders' in vhost '/' has 0 mails and waits for 1 answers of the journal") || strings.Contains(text, "others") {
				t.Errorf("%+v, %v", moved, err)
			}
		})
	}
}
