package cluster_test

import (
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/store"
)

// goesOn expects that a leader still stores messages.
func goesOn(c *trios.Trio) {
	c.Helper()
	stored := make(chan error, 1)
	c.Journal.Append(1, []store.Record{message(1, nil)}, func(err error) { stored <- err })
	if err := <-stored; err != nil {
		c.Error("it does not go on:", err)
	}
}

// without returns the other nodes.
func without(name string) []string {
	return slices.DeleteFunc(slices.Clone(trios.Names[:]), func(other string) bool { return other == name })
}

// TestSuccessor_CLU22: a leader hands over to a node that may lead, not to one that was drained. If there is none, it goes on.
func TestSuccessor_CLU22(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drained := map[string]*atomic.Bool{}
		c := trios.New(t, 800*time.Millisecond, func(c *cluster.Config) {
			own := &atomic.Bool{}
			drained[c.Name] = own
			c.Report = func() json.RawMessage {
				text, _ := json.Marshal(own.Load())
				return text
			}
			c.MayLead = func(report json.RawMessage) bool { return string(report) == "false" }
		})
		defer c.Close()
		time.Sleep(time.Second)
		for range 3 { // whichever is the first in the list of members
			old := c.Leader
			others := without(old)
			drained[others[0]].Store(true)
			if err := c.Node(old).TransferLeadership(others[0]); !errors.Is(err, cluster.ErrNoSuccessor) {
				t.Errorf("to a drained node: %v", err)
			}
			goesOn(c)
			c.Resign()
			if c.Lead(old); c.Leader != others[1] {
				t.Errorf("%s leads, want %s", c.Leader, others[1])
			}
			drained[old].Store(true)
			if err := c.Node(c.Leader).Resign(); !errors.Is(err, cluster.ErrNoSuccessor) {
				t.Errorf("all others are drained: %v", err)
			}
			goesOn(c)
			for _, d := range drained {
				d.Store(false)
			}
			time.Sleep(time.Second)
		}
		if err := c.Node(without(c.Leader)[0]).Resign(); !errors.Is(err, cluster.ErrNotLeading) {
			t.Error(err)
		}
	})
}

// TestSuccessorIsDown_CLU22: a leader that is to hand over to a node that is down refuses, and goes on; or it takes the other one, although that has no more.
func TestSuccessorIsDown_CLU22(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := trios.New(t, 800*time.Millisecond, nil)
		time.Sleep(time.Second)
		old := c.Leader
		down, other := without(old)[0], without(old)[1]
		if err := c.Node(down).Close(); err != nil {
			t.Error(err)
		}
		if err := c.Node(old).TransferLeadership(down); !errors.Is(err, cluster.ErrNoSuccessor) {
			t.Error(err)
		}
		goesOn(c)
		c.Resign()
		if c.Lead(old); c.Leader != other {
			t.Errorf("%s leads", c.Leader)
		}
		for _, name := range []string{old, other} {
			if err := c.Node(name).Close(); err != nil {
				t.Error(err)
			}
		}
		c.Network.Close()
	})
}
