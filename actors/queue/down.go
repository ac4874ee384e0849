package queue

import (
	"candlemark/actors/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// down stands in for a queue that cannot be brought back (PRO-16): its
// data stay in the journal, and whatever is asked of it is refused.
type down struct{}

// NewDown makes the actor. It needs no Close: whatever comes when it has ended is
// answered as for any queue that is gone.
func NewDown() actor.Actor { return down{} }

// Receive refuses one mail.
func (down) Receive(ctx actor.Context) {
	mail.AnswerAll(ctx, []any{ctx.Message()}, mail.Down)
}
