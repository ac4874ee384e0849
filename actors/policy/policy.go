package policy

import (
	"candlemark/actors/mail"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config is what the registry needs to live.
type Config struct {
	Log zerolog.Logger
}

// registry is the actor.
type registry struct {
	cfg   Config
	state state
}

// New makes the actor, without any policy.
func New(cfg Config) actor.Actor {
	return &registry{cfg: cfg, state: newState()}
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (r *registry) Receive(ctx actor.Context) {
	defer mail.AnswerPanic(ctx)
	s := &r.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *mail.SetPolicy:
		s.set(m)
		r.log(m.Policy.VHost, m.Policy.Name, m.Policy.Operator).Stringer("definition", m.Policy.Definition).Msg("policy set")
	case *mail.ClearPolicy:
		s.clear(m)
		r.log(m.VHost, m.Name, m.Operator).Msg("policy cleared")
	case *mail.ForgetVHost:
		s.forgetVHost(m)
	case *mail.ListPolicies:
		s.list(m)
	case *mail.VHostStarted:
		ctx.Watch(m.PID)
		s.started(m.Name, m.PID)
	case *mail.ApplyPoliciesReply:
		s.applied(m.ID)
	case *actor.Terminated: // it overtakes mail (DESIGN §5a.1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.gone(m.Who)
	}
	r.carryOut(ctx)
}

// carryOut posts what the core decided, in order.
func (r *registry) carryOut(ctx actor.Context) {
	posts := r.state.out
	r.state.out = nil
	for _, p := range posts {
		ctx.Send(p.to, p.what)
	}
}

func (r *registry) log(vhost, name string, operator bool) *zerolog.Event {
	return r.cfg.Log.Info().Str("vhost", vhost).Str("policy", name).Bool("operator", operator)
}
