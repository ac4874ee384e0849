package trio_test

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit/trio"
	"candlemark/internal/storage/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func put(c *trio.Trio, seq uint64) error {
	done := make(chan error, 1)
	c.Journal.Append(1, []store.Record{{Kind: store.Put, First: seq, Last: seq, Time: 1, Deadline: store.Never, TTL: -1, Body: []byte("x")}}, func(err error) { done <- err })
	return <-done
}

// TestTrio: a leader hands over, is cut off, and comes back; nothing that was confirmed is lost.
func TestTrio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := trio.New(t, time.Second, nil)
		defer c.Close()
		if err := put(c, 1); err != nil {
			t.Fatal(err)
		}
		first := c.Leader
		c.Resign()
		c.Lead()
		if c.Leader == first {
			t.Errorf("%s leads again", first)
		}
		if err := put(c, 2); err != nil {
			t.Fatal(err)
		}
		old, stale := c.Leader, c.Journal
		c.Isolate(old, true)
		lost := make(chan error, 1)
		stale.Append(1, []store.Record{{Kind: store.Remove, First: 1, Last: 2, Why: store.Acked}}, func(err error) { lost <- err })
		c.Lead()
		if c.Leader == old {
			t.Errorf("%s leads, but is cut off", old)
		}
		c.Isolate(old, false)
		if err := <-lost; err == nil {
			t.Error("a node that was cut off has confirmed")
		}
		if n := len(c.Journal.Take(1)); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}
