package queue

import (
	"candlemark/actors/mail"
	"candlemark/internal/store"

	"github.com/asynkron/protoactor-go/actor"
)

// abort is the end that nobody planned: a panic, or the broker stops. Whoever
// waits for the queue is told; what goes wrong here is not to keep the rest.
func (q *queue) abort(ctx actor.Context) {
	s := &q.state
	if !s.phase.becomeAborted() {
		return
	}
	q.stopTimer()
	q.reportCrash(ctx)
	if q.broke != nil {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Int("messages", s.Backlog.Len()).Int("consumers", s.consumers.Len()).
			Msg("a queue ended by a panic with what is not in the journal")
	}
	// What a queue that does not survive has in the journal is forgotten there.
	if s.Journal.Spilled() && s.queue != nil && !s.queue.Durable {
		q.cfg.Journal.Append(idOf(s.queue), []store.Record{{Kind: store.Retire, Time: s.Journal.At}}, nil)
	}
	left := append(s.pending.All(), q.close()...)
	if w := s.pending.Work(); w != nil && w.Asked != nil { // that had begun
		attempt(func() { mail.AnswerAll(ctx, []any{w.Asked}, mail.Failed) })
	}
	for _, g := range s.gets {
		left = append(left, g)
	}
	s.gets = nil
	for _, w := range s.receivers.Abandon() {
		left = append(left, w)
	}
	if s.preview != nil {
		left = append(left, s.preview.Asked)
	}
	attempt(func() {
		s.fail(q.broke)
		for _, p := range s.out.Posts {
			ctx.Send(p.To, p.What)
		}
	})
	s.flow.Release(true, 0, 0)
	s.flow.GiveBack()
	attempt(q.returnBudget)
	for _, m := range left {
		attempt(func() { mail.AnswerAll(ctx, []any{m}, mail.Unseen) })
	}
}

// reportCrash tells the vhost that the queue ends, before anybody else can learn of it and
// ask for what is next: those commands wait at the vhost.
func (q *queue) reportCrash(ctx actor.Context) {
	if v := q.state.vhost; v != nil {
		ctx.Send(v.PID, &mail.QueueCrashed{Queue: ctx.Self(), Newest: q.state.Seq})
	}
}

// returnBudget returns the queue's part of the budget, and of the sums of all queues.
func (q *queue) returnBudget() {
	q.cfg.Budget.Add(-q.budgetBytes)
	q.cfg.Budget.Count(-q.budgetCount)
	q.budgetBytes, q.budgetCount = 0, 0
	q.forget()
	q.state.Backlog.Clear()
	q.state.ClearScheduled()
}

func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// onPanic answers the mail that broke the queue and lets the supervisor know.
func (q *queue) onPanic(ctx actor.Context, what any) {
	if r := recover(); r != nil {
		q.broke = what
		attempt(func() { q.reportCrash(ctx) })
		attempt(func() { mail.AnswerAll(ctx, []any{what}, mail.Failed) })
		panic(r)
	}
}

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
