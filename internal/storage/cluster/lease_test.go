package cluster_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster"
)

// sleepy is a machine that has slept for a while.
type sleepy struct {
	clock.Machine
	slept *atomic.Int64
}

func (s sleepy) Boottime() (int64, bool) {
	at, ok := s.Machine.Boottime()
	return at + s.slept.Load(), ok
}

// cut cuts the leader's links, from it and to it.
func cut(c *trios.Trio, out, in bool) {
	for _, other := range trios.Names {
		if other != c.Leader {
			c.Network.Cut(c.Leader, other, out)
			c.Network.Cut(other, c.Leader, in)
		}
	}
}

// TestLease_CLU17: a leader with a majority has the lease all the time; one that is cut off, that has slept or that hands over has it no more, before
// another node leads.
func TestLease_CLU17(t *testing.T) {
	slept := map[string]*atomic.Int64{}
	sleeps := func(c *cluster.Config) {
		slept[c.Name] = &atomic.Int64{}
		c.Machine, c.Abandon = sleepy{clock.System(), slept[c.Name]}, true
	}
	for name, lose := range map[string]func(c *trios.Trio){
		"cut off":     func(c *trios.Trio) { cut(c, true, true) },
		"not heard":   func(c *trios.Trio) { cut(c, true, false) },
		"hears none":  func(c *trios.Trio) { cut(c, false, true) },
		"sleeps":      func(c *trios.Trio) { slept[c.Leader].Add(int64(time.Second)) },
		"hands over":  func(c *trios.Trio) { c.Resign() },
		"one is away": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := trios.New(t, 800*time.Millisecond, sleeps)
				defer c.Close()
				time.Sleep(time.Second)
				if lose == nil {
					for _, other := range trios.Names {
						if other != c.Leader {
							c.Isolate(other, true)
							break
						}
					}
				}
				for range 2000 {
					time.Sleep(time.Millisecond)
					if !c.Journal.Current() {
						t.Fatal("a leader with a majority has no lease")
					}
				}
				if lose == nil {
					return
				}
				old := c.Journal
				lose(c)
				if now := name == "sleeps" || name == "hands over"; now && old.Current() {
					t.Error("it has the lease")
				}
				for n := range 2000 {
					if name != "sleeps" && c.Elected(time.Millisecond) {
						if old.Current() {
							t.Error("two leaders have the lease")
						}
						break
					}
					if n >= 600 && name != "sleeps" && old.Current() {
						t.Fatalf("it has the lease after %d ms", n)
					}
				}
				c.Isolate(c.Leader, false)
				time.Sleep(2 * time.Second)
				if now := c.Journal.Current(); !now && name != "hears none" && name != "not heard" && name != "cut off" {
					t.Error("the leader has no lease again")
				}
			})
		})
	}
}
