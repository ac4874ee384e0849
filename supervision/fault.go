package supervision

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// faulty is an actor under Config.Fault. It panics in the middle of the turns
// that Fault picks: where it would first send, watch or spawn something, and at
// the end of the turn at the latest.
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
	b := &bomb{Context: ctx}
	f.Actor.Receive(b)
	b.blow()
}

// bomb is the context of a turn that fails; it goes off once, so that the recovering code can still answer.
type bomb struct {
	actor.Context
	blown bool
}

func (b *bomb) blow() {
	if !b.blown {
		b.blown = true
		panic(fmt.Sprintf("fault injected over %T", b.Message()))
	}
}

// Send goes off before it sends.
func (b *bomb) Send(to *actor.PID, what any) {
	b.blow()
	b.Context.Send(to, what)
}

// Watch goes off before it watches.
func (b *bomb) Watch(who *actor.PID) {
	b.blow()
	b.Context.Watch(who)
}

// SpawnNamed goes off before it spawns.
func (b *bomb) SpawnNamed(props *actor.Props, name string) (*actor.PID, error) {
	b.blow()
	return b.Context.SpawnNamed(props, name)
}
