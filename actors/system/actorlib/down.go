package actorlib

import (
	"candlemark/actors/system/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// Down is the actor of a queue that cannot be restarted (PRO-16): its data stay in the journal, and it refuses all commands. It needs no Close:
// mail that arrives after its end is answered as for any deleted queue.
type Down struct{}

// Receive answers every mail with an error.
func (Down) Receive(ctx actor.Context) {
	AnswerAll(ctx, []any{ctx.Message()}, mail.Down)
}
