package supervision

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// faulty is an actor under Config.Fault. It panics in turns that Fault picks: at the first send, watch or spawn, or
// else at the end of the turn.
type faulty struct {
	actor.Actor
	fault func(who *actor.PID, what any) bool
}

// Receive handles one mail, or panics over it.
func (f *faulty) Receive(ctx actor.Context) {
	if !f.fault(ctx.Self(), ctx.Message()) {
		f.Actor.Receive(ctx)
		return
	}
	b := &faultyContext{Context: ctx}
	f.Actor.Receive(b)
	b.fire()
}

// faultyContext is the context of a turn that fails: it panics once, so that the recovering code can still answer.
type faultyContext struct {
	actor.Context
	fired bool
}

func (b *faultyContext) fire() {
	if !b.fired {
		b.fired = true
		panic(fmt.Sprintf("fault injected over %T", b.Message()))
	}
}

// Send panics before it sends.
func (b *faultyContext) Send(to *actor.PID, what any) {
	b.fire()
	b.Context.Send(to, what)
}

// Watch panics before it watches.
func (b *faultyContext) Watch(who *actor.PID) {
	b.fire()
	b.Context.Watch(who)
}

// SpawnNamed panics before it spawns.
func (b *faultyContext) SpawnNamed(props *actor.Props, name string) (*actor.PID, error) {
	b.fire()
	return b.Context.SpawnNamed(props, name)
}
