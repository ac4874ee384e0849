package mailbox_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

// TestSupervisorDecides has mail 2 of 5 panic and checks the outcome of the others.
func TestSupervisorDecides(t *testing.T) {
	for _, tc := range []struct {
		directive             actor.Directive
		events                string
		handled, left, starts int
	}{
		{actor.RestartDirective, "start 1 2 restarting start 3 4 5 ", 5, 0, 2},
		{actor.ResumeDirective, "start 1 2 3 4 5 ", 5, 0, 1},
		{actor.StopDirective, "start 1 2 stopping stopped ", 2, 3, 1},
	} {
		t.Run(tc.directive.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				system, d := newSystem(t), newDispatcher(t, 2)
				m := mailbox.New(unwanted(t))
				events, left := "", 0
				child := props(d, m, func(c actor.Context) {
					switch mail := c.Message().(type) {
					case *actor.Started:
						events += "start "
					case *actor.Restarting:
						events += "restarting "
					case *actor.Stopping:
						events += "stopping "
					case *actor.Stopped:
						events += "stopped "
						left = len(m.Close())
					case int:
						events += fmt.Sprint(mail, " ")
						if mail == 2 {
							panic("bad mail")
						}
					}
				})
				strategy := actor.NewOneForOneStrategy(10, time.Minute, func(any) actor.Directive { return tc.directive })
				parent := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
					if _, ok := c.Message().(*actor.Started); ok {
						pid := c.Spawn(child)
						for i := range 5 {
							c.Send(pid, i+1)
						}
					}
				}, actor.WithSupervisor(strategy), actor.WithDispatcher(d)))
				synctest.Wait()
				if got := <-ask(d, func() string { return events }); got != tc.events || left != tc.left {
					t.Errorf("got %q and %d left, want %q and %d", got, left, tc.events, tc.left)
				}
				if err := system.Root.StopFuture(parent).Wait(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// ask runs f as a turn of d.
func ask(d *mailbox.Dispatcher, f func() string) <-chan string {
	answer := make(chan string, 1)
	d.Schedule(func() { answer <- f() })
	return answer
}
