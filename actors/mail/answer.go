package mail

import "github.com/asynkron/protoactor-go/actor"

// AnswerAll answers mail that its receiver will not handle any more.
func AnswerAll(ctx actor.SenderContext, left []any, fate Fate) {
	for _, m := range left {
		if a, ok := m.(Answerable); ok {
			if to, reply := a.Answer(fate); to != nil {
				ctx.Send(to, reply)
			}
		}
	}
}

// AnswerPanic is deferred by an actor's Receive: if the current mail makes it panic, the sender gets an answer and
// the panic goes on to the supervisor.
func AnswerPanic(ctx actor.Context) {
	if reason := recover(); reason != nil {
		AnswerAll(ctx, []any{ctx.Message()}, Failed)
		panic(reason)
	}
}

// Unwatch ends a watch of an actor that may be gone. An actor that ends, or does not need a watch any more, has to
// call it: the watched actor would otherwise keep its address for as long as it lives.
func Unwatch(ctx actor.Context, who Address) {
	if p, lives := ctx.ActorSystem().ProcessRegistry.Get(who); lives {
		p.SendSystemMessage(who, &actor.Unwatch{Watcher: ctx.Self()})
	}
}
