package actorlib

import (
	"candlemark/actors/system/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// AnswerAll answers mail that its receiver will no longer handle.
func AnswerAll(ctx actor.SenderContext, left []any, cause mail.Cause) {
	for _, m := range left {
		if a, ok := m.(mail.Answerable); ok {
			if to, reply := a.Answer(cause); to != nil {
				Send(ctx, to, reply)
			}
		}
	}
}

// AnswerPanic is deferred by an actor's Receive: if it panics, the sender of the current mail gets an answer, and the
// panic continues to the supervisor.
func AnswerPanic(ctx actor.Context) {
	if reason := recover(); reason != nil {
		AnswerAll(ctx, []any{ctx.Message()}, mail.Failed)
		panic(reason)
	}
}
