package ask

import (
	"context"
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"

	"github.com/asynkron/protoactor-go/actor"
)

// Patience is how long All waits for answers.
const Patience = 5 * time.Second

// Asker sends mail from non-actor goroutines.
type Asker struct {
	System *actor.ActorSystem
	Clock  *clock.Clock
}

// Post sends mail without waiting.
func (a *Asker) Post(to mail.Address, what any) { actorlib.Send(a.System.Root, to, what) }

// Watch delivers the end of an actor to an inbox, as *actor.Terminated.
func (a *Asker) Watch(whom mail.Address, by *Inbox) {
	pid := actorlib.PID(whom)
	if p, ok := a.System.ProcessRegistry.Get(pid); ok {
		p.SendSystemMessage(pid, &actor.Watch{Watcher: by.PID})
	}
}

// All sends count requests at once and passes every answer within Patience to take; later answers are dropped. The
// answer to request i has i as its ID. The error is ctx's.
func (a *Asker) All(ctx context.Context, count int, ask func(i int, r mail.Request), take func(answer any)) error {
	in := a.Inbox(count)
	defer in.Close()
	for i := range count {
		ask(i, mail.Request{ReplyTo: in.PID, ID: uint64(i)})
	}
	wait, cancel := a.Clock.WithTimeout(ctx, Patience)
	defer cancel()
	for range count {
		answer, err := in.Next(wait)
		if err != nil {
			return ctx.Err() // nil if only Patience is over
		}
		take(answer)
	}
	return nil
}

// One sends the request that question makes with the address for the answer, and waits for the answer. The error is
// ctx's.
func One[T any](ctx context.Context, a *Asker, to mail.Address, question func(replyTo mail.Address) any) (T, error) {
	in := a.Inbox(1)
	defer in.Close()
	a.Post(to, question(in.PID))
	var none T
	r, err := in.Next(ctx)
	if err != nil {
		return none, err
	}
	return r.(T), nil
}
