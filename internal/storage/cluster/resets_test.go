package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/storage/store"
)

// TestResets_CLU7: when all connections end again and again, while the leader's process lives, it goes on in its term.
func TestResets_CLU7(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := trios.New(t, 800*time.Millisecond, nil)
		defer c.Close()
		time.Sleep(time.Second)
		leader, term := c.Leader, c.Node(c.Leader).Status().Term
		for seq := range uint64(50) {
			c.Network.Reset()
			stored := make(chan error, 1)
			c.Journal.Append(1, []store.Record{message(seq, nil)}, func(err error) { stored <- err })
			if err := <-stored; err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(seq) * 7 * time.Millisecond)
		}
		for _, name := range trios.Names {
			if s := c.Node(name).Status(); s.Leader != leader || s.Term != term {
				t.Errorf("%s: %s leads in term %d; %s led in term %d", name, s.Leader, s.Term, leader, term)
			}
		}
	})
}
