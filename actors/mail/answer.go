package mail

import "github.com/asynkron/protoactor-go/actor"

// AnswerAll answers what is left of an actor's mail in its place.
func AnswerAll(ctx actor.SenderContext, left []any, fate Fate) {
	for _, m := range left {
		if a, ok := m.(Answerable); ok {
			if to, reply := a.Answer(fate); to != nil {
				ctx.Send(to, reply)
			}
		}
	}
}

// AnswerPanic is deferred by an actor's Receive: when the mail in hand makes it
// panic, whoever waits for the answer is told, and the panic goes on to the
// supervisor.
func AnswerPanic(ctx actor.Context) {
	if reason := recover(); reason != nil {
		AnswerAll(ctx, []any{ctx.Message()}, Failed)
		panic(reason)
	}
}

// Unwatch ends a watch of an actor that may be gone. Whoever ends, or forgets somebody
// it watches, calls it: the watched one would keep its address as long as it lives.
func Unwatch(ctx actor.Context, who Address) {
	if p, lives := ctx.ActorSystem().ProcessRegistry.Get(who); lives {
		p.SendSystemMessage(who, &actor.Unwatch{Watcher: ctx.Self()})
	}
}
