package command

import (
	"context"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures the actor.
type Config struct {
	VHost *topology.VHost
	// Registry is the policy registry.
	Registry mail.Address
	// Carry executes a job, which may take until ctx ends, and returns its answer as JSON. It is called on its own
	// goroutine.
	Carry func(ctx context.Context, c Command) []byte
	Clock *clock.Clock
	Log   zerolog.Logger
}

// Command is the command of a job, and its sender.
type Command struct {
	User                auth.User
	Connection, Channel string // names of actors
	Origin              *events.Origin
	Key                 string
	Body                []byte
}

// timerFired: the oldest command may be overdue.
type timerFired struct{}

// carried: a job has its answer.
type carried struct {
	by     *commandActor // the actor that started the job: answers for earlier actors are ignored
	job    job
	answer []byte
}

// commandActor is the shell.
type commandActor struct {
	state state
	timer *clock.Wait // nil while none is armed
	clock *clock.Clock
	carry func(ctx context.Context, c Command) []byte
	// ctx is cancelled by stop when the actor ends.
	ctx  context.Context
	stop context.CancelFunc
}

// New returns the actor.
func New(cfg Config) actor.Actor {
	d := &commandActor{carry: cfg.Carry, clock: cfg.Clock, state: state{
		vhost: cfg.VHost, registry: cfg.Registry, first: 1, lines: map[string][]job{}, users: map[string]int{},
		log: cfg.Log.With().Str("vhost", cfg.VHost.Name).Logger(),
	}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (d *commandActor) Receive(ctx actor.Context) {
	defer actorlib.AnswerPanic(ctx)
	s := &d.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *actor.Stopping, *actor.Restarting:
		d.stop()
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	case *mail.Enqueue:
		s.enqueue(m, d.clock.Ran())
		d.carryOut(ctx)
		m.Release() // released last: refusing a batch that causes a panic needs its contents
		return
	case *mail.PolicyReply:
		s.policyChanged(m, d.clock.Ran())
	case *mail.PolicyList:
		s.policiesListed(m)
	case carried:
		if m.by == d {
			s.carried(m, d.clock.Ran())
		}
	case timerFired:
		d.timer = nil
		s.expire(d.clock.Ran())
	}
	d.carryOut(ctx)
}

// carryOut sends the mail of the turn in order, starts jobs, and arms the timer. A timer that fires early is
// harmless.
func (d *commandActor) carryOut(ctx actor.Context) {
	posts := d.state.out
	d.state.out = nil
	for _, p := range posts {
		actorlib.Send(ctx, p.To, p.Mail)
	}
	begun := d.state.begun
	d.state.begun = nil
	for _, e := range begun {
		go d.run(e, ctx.Self(), ctx.ActorSystem().Root)
	}
	if deadline, waiting := d.state.deadline(); waiting && d.timer == nil {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		d.timer = d.clock.After(deadline-d.clock.Ran(), func() { root.Send(self, timerFired{}) })
	}
}

// run executes one job and sends its answer to the actor.
func (d *commandActor) run(e job, self mail.Address, root *actor.RootContext) {
	ctx, cancel := d.clock.WithTimeout(d.ctx, e.deadline-d.clock.Ran())
	defer cancel()
	answer := d.carry(ctx, e.command)
	if d.ctx.Err() == nil { // otherwise the actor has ended
		actorlib.Send(root, self, carried{d, e, answer})
	}
}
