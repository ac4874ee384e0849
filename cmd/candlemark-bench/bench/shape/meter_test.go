package shape

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"
)

// TestDrained: a duplicate does not stand for a message that is still on its way, and the wait ends if no message comes.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bench{Settings: &profile.Settings{Interval: time.Second}, run: load.NewRun(1, wire.Config{})}
		b.meter = newMeter(b)
		defer b.meter.tick.Stop()
		var book verify.Queue
		var reader verify.Reader
		came := func(seq uint64) {
			book.Take(&reader, []verify.ID{{Seq: seq}})
			b.run.Got.Add(1)
		}
		came(0)
		came(0)
		late := time.AfterFunc(50*time.Millisecond, func() { came(1) })
		b.meter.drained(book.Came, 2, time.Minute, nil)
		if late.Stop() || book.Missing(0, 2) != 0 {
			t.Error("the second message was not waited for")
		}
		began := time.Now()
		b.meter.drained(book.Came, 3, time.Minute, nil)
		if took := time.Since(began); took < time.Minute {
			t.Errorf("the third message was waited for %s", took)
		}
	})
}
