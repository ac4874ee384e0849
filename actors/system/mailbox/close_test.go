package mailbox_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

// tally counts the outcomes of each mail.
type tally struct{ handled, left, late []atomic.Int32 }

func newTally(n int) *tally {
	return &tally{make([]atomic.Int32, n), make([]atomic.Int32, n), make([]atomic.Int32, n)}
}

func (c *tally) check(t *testing.T) {
	t.Helper()
	for i := range c.handled {
		if h, l, u := c.handled[i].Load(), c.left[i].Load(), c.late[i].Load(); h+l+u != 1 {
			t.Fatalf("mail %d: handled %d, returned %d, undeliverable %d times", i, h, l, u)
		}
	}
}

// TestCloseRacesPosts closes a mailbox while producers post, from the actor itself and from outside: every mail has exactly one
// outcome.
func TestCloseRacesPosts(t *testing.T) {
	const producers, each, rounds = 4, 200, 150
	for _, inside := range []bool{true, false} {
		name := map[bool]string{true: "inside Receive", false: "outside"}[inside]
		t.Run(name, func(t *testing.T) {
			system, d := newSystem(t), newDispatcher(t, 2)
			for round := range rounds {
				count := newTally(producers * each)
				m := mailbox.New(func(mail any) { count.late[mail.(int)].Add(1) })
				closeNow := func() {
					for _, mail := range m.Close() {
						count.left[mail.(int)].Add(1)
					}
				}
				seen := 0
				pid := system.Root.Spawn(props(d, m, func(c actor.Context) {
					switch mail := c.Message().(type) {
					case int:
						count.handled[mail].Add(1)
						if seen++; inside && seen == 5*round {
							closeNow()
						}
					case *actor.Stopped:
						closeNow()
					}
				}))
				var all sync.WaitGroup
				for producer := range producers {
					all.Go(func() {
						for i := range each {
							system.Root.Request(pid, producer*each+i)
							if !inside && producer == 0 && i == round {
								closeNow()
							}
						}
					})
				}
				all.Wait()
				if err := system.Root.StopFuture(pid).Wait(); err != nil {
					t.Fatal(err)
				}
				count.check(t)
			}
		})
	}
}
