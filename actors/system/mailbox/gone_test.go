package mailbox_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

// A PID that is still referenced does not keep its ended actor in memory, with children or without.
func TestKeptAddressKeepsNoActor(t *testing.T) {
	system, d := newSystem(t), newDispatcher(t, 2)
	for _, children := range []int{0, 3} {
		memory := make(chan weak.Pointer[[1 << 16]byte], 1)
		pid := func() *actor.PID {
			data := new([1 << 16]byte)
			memory <- weak.Make(data)
			return system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
				if _, begins := c.Message().(*actor.Started); begins {
					data[0]++
					for range children {
						c.Spawn(props(d, mailbox.New(func(any) {}), func(actor.Context) {}))
					}
				}
			}))
		}()
		system.Root.Send(pid, 1) // so that the PID caches its mailbox
		if err := system.Root.StopFuture(pid).Wait(); err != nil {
			t.Fatal(err)
		}
		data := <-memory
		for i := 0; data.Value() != nil; i++ {
			if i == 1000 {
				t.Fatalf("with %d children: it is still there", children)
			}
			runtime.GC() // the turn that ended it may still be under way
		}
		runtime.KeepAlive(pid)
	}
}

// Mail left by an actor that does not close its mailbox goes to the undeliverable handler, and actors that watch it
// after its end are informed.
func TestStoppedActorHandsOnItsMail(t *testing.T) {
	system, d := newSystem(t), newDispatcher(t, 2)
	late, begun := make(chan any, 3), make(chan struct{})
	pid := system.Root.Spawn(props(d, mailbox.New(func(mail any) { late <- mail }), func(c actor.Context) {
		if c.Message() == "first" {
			c.Stop(c.Self())
			c.Send(c.Self(), "second")
			close(begun)
		}
	}))
	process, _ := system.ProcessRegistry.Get(pid)
	system.Root.Request(pid, "first")
	<-begun
	if got := <-late; got != "second" {
		t.Errorf("got %v", got)
	}
	process.SendUserMessage(pid, "third")
	if got := <-late; got != "third" {
		t.Errorf("got %v", got)
	}
	future := actor.NewFuture(system, 10*time.Second)
	process.SendSystemMessage(pid, &actor.Watch{Watcher: future.PID()})
	if err := future.Wait(); err != nil {
		t.Error("the watcher was not notified:", err)
	}
}

// A stopping actor handles no more mail while its children end: children spawned then would never stop, and neither
// would the actor.
func TestStoppingActorMakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, d := newSystem(t), newDispatcher(t, 2)
		late, held, goOn := make(chan any, 2), make(chan struct{}), make(chan struct{})
		child := props(d, mailbox.New(func(any) {}), func(c actor.Context) {
			if _, ends := c.Message().(*actor.Stopping); ends {
				close(held)
				<-goOn
			}
		})
		pid := system.Root.Spawn(props(d, mailbox.New(func(mail any) { late <- mail }), func(c actor.Context) {
			switch c.Message().(type) {
			case *actor.Started:
				c.Spawn(child)
			case *actor.Stopping:
				c.Send(c.Self(), "left")
			case string:
				c.Spawn(props(d, mailbox.New(func(any) {}), func(actor.Context) {}))
			}
		}))
		end := system.Root.StopFuture(pid)
		<-held
		synctest.Wait() // the parent waits for its child
		system.Root.Send(pid, "late")
		if first, second := <-late, <-late; first != "left" || second != "late" {
			t.Errorf("got %v and %v", first, second)
		}
		close(goOn)
		if err := end.Wait(); err != nil {
			t.Error(err)
		}
	})
}
