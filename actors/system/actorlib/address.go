package actorlib

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// PID converts an address, of an actor or an alias of one, to the library's form. It is nil for nil.
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

// ChildOf returns the address of the child that an actor starts under a name.
func ChildOf(parent mail.Address, name string) mail.Address {
	p := PID(parent)
	return actor.NewPID(p.Address, p.Id+"/"+name)
}

// Send sends mail.
func Send(ctx actor.SenderContext, to mail.Address, m any) { ctx.Send(PID(to), m) }

// Watch makes the calling actor receive an actor.Terminated when another actor has ended.
func Watch(ctx actor.Context, who mail.Address) { ctx.Watch(PID(who)) }

// Unwatch ends the watch of an actor, which may have ended. An actor that ends, or no longer needs a watch, has to call
// it; otherwise the watched actor keeps its address until its own end.
func Unwatch(ctx actor.Context, who mail.Address) {
	pid := PID(who)
	if p, lives := ctx.ActorSystem().ProcessRegistry.Get(pid); lives {
		p.SendSystemMessage(pid, &actor.Unwatch{Watcher: ctx.Self()})
	}
}
