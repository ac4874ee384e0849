package queue

import (
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"

	"github.com/asynkron/protoactor-go/actor"
)

// abort ends the queue at once: after a panic, or because the broker stops. Every waiting sender gets an answer. Each
// step recovers from its own panic, so that the others still run.
func (q *queue) abort(ctx actor.Context) {
	s := &q.state
	if !s.phase.becomeAborted() {
		return
	}
	q.stopTimers()
	q.reportCrash(ctx)
	if q.failedOn != nil {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Int("messages", s.messages.Backlog.Len()).Int("consumers", s.consumers.Len()).
			Msg("a queue ended after a panic; its messages that are not in the journal are lost")
	}
	if n := s.farewell.dropped(); s.farewell.begun && n > 0 { // after a restart only further losses are counted
		q.cfg.Log.Warn().Str("queue", s.queue.Name).Int("messages", n).Msg("dead letters of a queue that is ending did not reach all of their targets")
	}
	// The records of a queue that does not survive a restart are deleted from the journal.
	if s.messages.Journal.Spilled() && s.queue != nil && !s.queue.Durable {
		q.cfg.Journal.Append(idOf(s.queue), []store.Record{{Kind: store.Retire, Time: s.messages.Journal.At}}, nil)
	}
	left := append(s.pending.All(), q.close()...)
	if w := s.pending.Work(); w != nil && w.Asked != nil { // the command in progress
		attempt(func() { actorlib.AnswerAll(ctx, []any{w.Asked}, mail.Failed) })
	}
	for _, m := range s.end() {
		left = append(left, m)
	}
	attempt(func() {
		s.fail(q.failedOn)
		q.gate.Send(&s.out.Posts, 0, s.self, func(p mail.Post) { actorlib.Send(ctx, p.To, p.Mail) })
	})
	attempt(func() { q.gate.Leave(q.cfg.Journal, idOf(s.queue), q.cfg.Post) })
	s.flow.ReleaseCredit()
	attempt(q.returnBudget)
	for _, m := range left {
		attempt(func() { actorlib.AnswerAll(ctx, []any{m}, mail.Unseen) })
	}
}

// reportCrash informs the vhost that the queue is ending. The mail is sent before any other actor can notice and send
// commands for the next incarnation; the vhost holds such commands back.
func (q *queue) reportCrash(ctx actor.Context) {
	if v := q.state.vhost; v != nil {
		actorlib.Send(ctx, v.PID, &mail.QueueCrashed{Queue: ctx.Self(), Newest: q.state.messages.Seq})
	}
}

// returnBudget gives the queue's share of the memory budget back and takes its numbers out of the metrics.
func (q *queue) returnBudget() {
	q.share.Set(budget.Share{}, q.cfg.Budget, q.notes)
	q.withdrawFigures()
	q.state.messages.Backlog.Clear()
	q.state.messages.ClearScheduled()
}

func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// onPanic recovers from a panic, answers the mail that caused it with an error and panics again for the supervisor.
func (q *queue) onPanic(ctx actor.Context, received any) {
	if r := recover(); r != nil {
		q.failedOn = received
		attempt(func() { q.reportCrash(ctx) })
		attempt(func() { actorlib.AnswerAll(ctx, []any{received}, mail.Failed) })
		panic(r)
	}
}
