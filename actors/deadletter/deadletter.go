package deadletter

import (
	"math/rand/v2"

	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a dead-letter actor.
type Config struct {
	VHost *topology.VHost
	// Stats is counted up; it outlives the actor. Nil if nobody reads it.
	Stats *Stats
	// Events is told of leases that end; nil for nobody.
	Events *events.Hub
	// Log carries the name of the virtual host.
	Log zerolog.Logger
}

// continueBatch: a batch was cut short in an earlier turn and goes on in this one.
type continueBatch struct{}

// searched: the route that a batch waited for.
type searched struct {
	batch *batch
	route topology.LongRoute
}

// deadletter is the shell.
type deadletter struct{ state state }

// New makes the actor.
func New(cfg Config) actor.Actor {
	if cfg.Stats == nil {
		cfg.Stats = &Stats{}
	}
	d := &deadletter{}
	d.state.init(cfg, rand.Uint64()>>1)
	return d
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (d *deadletter) Receive(ctx actor.Context) {
	defer mail.AnswerPanic(ctx)
	s := &d.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *mail.DeadLetter:
		s.take(m)
	case reportExpired:
		s.logExpired()
	case continueBatch:
		s.step()
	case searched:
		s.searched(m.batch, m.route)
	case *mail.EnqueueReply:
		s.enqueued(m)
	case *mail.QueueExpired:
		s.queueExpired(m)
	case *mail.FinishDeadLetters:
		s.finish(m)
	case *actor.Terminated: // it overtakes mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.targetGone(m.Who)
	case *actor.Restarting:
		s.out = outcome{} // what the turn that failed did not send is sent again as well
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
		ctx.Watch(pid)
	}
	for _, p := range out.posts {
		ctx.Send(p.to, p.what)
	}
	for _, b := range out.search {
		if b.waiting != nil {
			go search(b, b.waiting, ctx.Self(), ctx.ActorSystem().Root)
		}
	}
	clear(out.watch)
	clear(out.posts)
	clear(out.search)
	out.watch, out.posts, out.search = out.watch[:0], out.posts[:0], out.search[:0]
}

// search is a goroutine.
func search(b *batch, l *topology.Long, self *actor.PID, root *actor.RootContext) {
	if route, ok := l.Find(); ok {
		root.Send(self, searched{b, route})
	}
}
