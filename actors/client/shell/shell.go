package shell

import (
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/requests"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"

	"github.com/asynkron/protoactor-go/actor"
)

// Guard is the timer of the request that waits for its answer. The zero value is ready.
type Guard struct {
	timer *clock.Wait
	armed uint64 // number of the request, 0 for none
}

// Set keeps the timer running for the request with that number, not 0, or stops it if the number is 0. After requests.AnswerTimeout the actor
// gets the mail that expired returns.
func (g *Guard) Set(ctx actor.Context, c *clock.Clock, id uint64, expired func(id uint64) any) {
	if id == g.armed {
		return
	}
	g.Stop()
	if g.armed = id; id != 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		g.timer = c.After(requests.AnswerTimeout, func() { root.Send(self, expired(id)) })
	}
}

// Stop stops the timer.
func (g *Guard) Stop() {
	if g.timer != nil {
		g.timer.Stop()
	}
}

// Send sends the mail of a turn, in order.
func Send(ctx actor.Context, m *outgoing.Mail) {
	m.CarryOut(func(to mail.Address, what any) { actorlib.Send(ctx, to, what) })
}

// WatchOver starts and ends watches of queues.
func WatchOver(ctx actor.Context, m *outgoing.Mail) {
	m.WatchOver(func(who mail.Address) { actorlib.Watch(ctx, who) }, func(who mail.Address) { actorlib.Unwatch(ctx, who) })
}

// Release returns the credit of mail that is no longer handled. Senders of replies are told that the actor is gone.
func Release(left []any, post func(to mail.Address, m any)) {
	for _, m := range left {
		switch m := m.(type) {
		case *mail.Inbound:
			m.Chunk.Release()
			m.Chunk = nil
		case *mail.Deliver:
			m.Release()
		case *mail.Enqueue: // replies
			if to, reply := m.Answer(mail.Gone); to != nil {
				post(to, reply)
			}
		}
	}
}
