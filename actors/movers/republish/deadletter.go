package republish

import (
	"math/rand/v2"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a dead-letter actor.
type Config struct {
	VHost *topology.VHost
	// Stats collects statistics; it outlives the actor. Nil if not needed.
	Stats *Stats
	// Events receives events of expired queues; nil for none.
	Events *events.Hub
	// Log has the name of the virtual host.
	Log zerolog.Logger
	// Copies permits copies; nil for no limit.
	Copies *budget.Copies
	Clock  *clock.Clock
	Works  *activity.Works // counts routes being computed; nil for none
}

// continueBatch continues a batch that was cut short in an earlier turn.
type continueBatch struct{}

// searched: the route for which a batch waited was found.
type searched struct {
	batch *batch
	route topology.LongRoute
}

// deadletter is the shell.
type deadletter struct {
	state state
	clock *clock.Clock
	works *activity.Works
}

// New returns the actor.
func New(cfg Config) actor.Actor {
	if cfg.Stats == nil {
		cfg.Stats = &Stats{}
	}
	d := &deadletter{clock: cfg.Clock, works: cfg.Works}
	d.state.init(cfg, rand.Uint64()>>1)
	return d
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (d *deadletter) Receive(ctx actor.Context) {
	defer actorlib.AnswerPanic(ctx)
	s := &d.state
	s.now = d.clock.Now().Floor()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *mail.DeadLetter:
		s.take(m)
	case reportExpired:
		s.logExpired()
	case continueBatch:
		s.step()
	case askAgain:
		s.again()
	case searched:
		s.searched(m.batch, m.route)
	case *mail.EnqueueReply:
		s.enqueued(m)
	case *mail.QueueExpired:
		s.queueExpired(m)
	case *mail.FinishDeadLetters:
		s.finish(m)
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.targetGone(m.Who)
	case *actor.Restarting:
		s.out = outcome{} // the sources also resend the mail that the failed turn did not send
		s.reportLost()
		s.logExpired()
	case *actor.Stopping:
		s.abandon()
		s.logExpired()
	}
	d.carryOut(ctx)
}

func (d *deadletter) carryOut(ctx actor.Context) {
	out := &d.state.out
	for _, pid := range out.watch {
		actorlib.Watch(ctx, pid)
	}
	for _, p := range out.Posts {
		actorlib.Send(ctx, p.To, p.Mail)
	}
	for _, b := range out.search {
		if b.waiting != nil {
			d.works.Begin()
			go search(b, b.waiting, ctx.Self(), ctx.ActorSystem().Root, d.works)
		}
	}
	if out.await {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		d.state.price.Await(func() { root.Send(self, askAgain{}) })
	}
	clear(out.watch)
	clear(out.Posts)
	clear(out.search)
	out.watch, out.Posts, out.search, out.await = out.watch[:0], out.Posts[:0], out.search[:0], false
}

// search runs on a goroutine.
func search(b *batch, l *topology.Long, self mail.Address, root *actor.RootContext, works *activity.Works) {
	defer works.End()
	if route, ok := l.Find(); ok {
		actorlib.Send(root, self, searched{b, route})
	}
}
