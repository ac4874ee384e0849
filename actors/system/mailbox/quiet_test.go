package mailbox

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"
)

// TestQuiet_CLK6: a dispatcher is quiet when no turn waits or runs, and each turn counts.
func TestQuiet_CLK6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher(1)
		defer d.Stop()
		end := make(chan struct{})
		if n, quiet := d.Quiet(); n != 0 || !quiet {
			t.Error(n, quiet)
		}
		d.Schedule(func() { <-end })
		d.Schedule(func() {})
		if n, quiet := d.Quiet(); n != 2 || quiet {
			t.Error("while turns wait:", n, quiet)
		}
		synctest.Wait()
		if n, quiet := d.Quiet(); n != 2 || quiet {
			t.Error("while a turn runs:", n, quiet)
		}
		close(end)
		synctest.Wait()
		if n, quiet := d.Quiet(); n != 2 || !quiet {
			t.Error("at the end:", n, quiet)
		}
	})
}

// named is the invoker of an actor whose turns last until end is closed.
type named struct {
	id  string
	end chan struct{}
}

func (n *named) Self() *actor.PID         { return actor.NewPID("test", n.id) }
func (n *named) InvokeSystemMessage(any)  {}
func (n *named) InvokeUserMessage(any)    { <-n.end }
func (n *named) EscalateFailure(_, _ any) {}

// TestBusiest_CLK8: the actors with work are named, those with most mail first.
func TestBusiest_CLK8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, end := NewDispatcher(1), make(chan struct{})
		defer d.Stop()
		for i, mails := range []int{2, 3, 0, 5} {
			m := New(func(any) { t.Error("undeliverable") })
			m.RegisterHandlers(&named{fmt.Sprint("actor", i), end}, d)
			m.Start()
			for range mails {
				m.PostUserMessage("mail")
			}
		}
		synctest.Wait() // the first runs
		if got := fmt.Sprint(d.Busiest()); got != "[{actor3 5} {actor1 3} {actor0 1}]" {
			t.Error(got)
		}
		if l := d.Load(); l != (Load{3, 9, 5}) {
			t.Errorf("%+v", l)
		}
		close(end)
		synctest.Wait()
		if got := d.Busiest(); got != nil {
			t.Errorf("%v at the end", got)
		}
	})
}
