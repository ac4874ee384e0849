package actorlib

import (
	"candlemark/actors/mail"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// PID returns the library's form of an address: that of an actor, or an alias of one. It is nil for nil.
func PID(a mail.Address) *actor.PID {
	switch a := a.(type) {
	case *actor.PID:
		return a
	case *topology.Alias:
		return PID(a.Address)
	case nil:
		return nil
	}
	panic("no address of an actor")
}

// ChildOf returns the address of the actor that an actor starts under a name.
func ChildOf(parent mail.Address, name string) mail.Address {
	p := PID(parent)
	return actor.NewPID(p.Address, p.Id+"/"+name)
}

// Send sends mail.
func Send(ctx actor.SenderContext, to mail.Address, m any) { ctx.Send(PID(to), m) }

// Watch makes an actor get an actor.Terminated when another has ended.
func Watch(ctx actor.Context, who mail.Address) { ctx.Watch(PID(who)) }

// Unwatch ends a watch of an actor that may be gone. An actor that ends, or does not need a watch any more, has to
// call it: the watched actor would otherwise keep its address for as long as it lives.
func Unwatch(ctx actor.Context, who mail.Address) {
	pid := PID(who)
	if p, lives := ctx.ActorSystem().ProcessRegistry.Get(pid); lives {
		p.SendSystemMessage(pid, &actor.Unwatch{Watcher: ctx.Self()})
	}
}
