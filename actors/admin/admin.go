package admin

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config is what a door needs to live.
type Config struct {
	VHost *topology.VHost
	// Registry is the policy registry.
	Registry *actor.PID
	Log      zerolog.Logger
}

// timerFired: the oldest command may be overdue.
type timerFired struct{}

// door is the shell.
type door struct {
	state state
	timer *time.Timer // nil while none is armed
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	return &door{state: state{
		vhost: cfg.VHost, registry: cfg.Registry, first: 1,
		log: cfg.Log.With().Str("vhost", cfg.VHost.Name).Logger(),
	}}
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (d *door) Receive(ctx actor.Context) {
	defer mail.AnswerPanic(ctx)
	s := &d.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *actor.Stopping:
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	case *mail.Enqueue:
		s.enqueue(m, time.Now())
		d.carryOut(ctx)
		m.Release() // last: a batch that panics is refused by what is in it
		return
	case *mail.PolicyReply:
		s.policyChanged(m)
	case *mail.PolicyList:
		s.policiesListed(m)
	case timerFired:
		d.timer = nil
		s.expire(time.Now())
	}
	d.carryOut(ctx)
}

// carryOut posts what the core decided, in order, and arms the timer. One that
// fires when nothing is overdue is harmless.
func (d *door) carryOut(ctx actor.Context) {
	posts := d.state.out
	d.state.out = nil
	for _, p := range posts {
		ctx.Send(p.to, p.what)
	}
	if deadline, waiting := d.state.deadline(); waiting && d.timer == nil {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		d.timer = time.AfterFunc(time.Until(deadline), func() { root.Send(self, timerFired{}) })
	}
}
